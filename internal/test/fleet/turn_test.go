//go:build fleet

package fleet

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// A turn goes through all of a fleet: an API node, a coordinator that has the models, and
// a host that has the directory and no keys.
func TestTurn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	w.coordinator("coordinator1")
	w.executor("host1")
	_, c := w.api("api1")
	model := w.script(stepsOf(3, 0, `{"name":"bash","input":{"command":"echo %d >> count"}},{"name":"read","input":{"path":"count"}}`)...)
	id, err := w.begin(t.Context(), c, model)
	if err != nil {
		t.Fatal(err)
	}
	w.ended([]pawl.SessionID{id}, time.Minute)
	events := w.events(id)
	end, ok := events[len(events)-1].Body.(pawl.TurnFinished)
	if !ok || end.Reason != pawl.ReasonEndTurn || end.Steps != 3 {
		t.Errorf("it ended with %+v", events[len(events)-1].Body)
	}
	if n := kinds(events)["call.finished"]; n != 4 {
		t.Errorf("%d calls have ended", n)
	}
}

// A workspace goes where its host does not: what one turn left is there for the
// next, on another host, and can be undone there.
func TestMove(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	w.coordinator("coordinator1")
	first := w.executor("host1")
	_, c := w.api("api1")
	model := w.script(
		`{"text":"one","calls":[{"name":"bash","input":{"command":"git init -q . && printf 'cache\n' > .gitignore && echo secret > cache && echo kept > file && ln -s file link"}}]}`,
		`{"text":"done"}`,
		`{"text":"two","calls":[{"name":"bash","input":{"command":"cat cache link .git/HEAD"}}]}`,
		`{"expect":"secret\nkept\nref: ","text":"done"}`,
	)
	id, err := w.begin(t.Context(), c, model)
	if err != nil {
		t.Fatal(err)
	}
	w.ended([]pawl.SessionID{id}, time.Minute)
	w.executor("host2")
	first.stop()
	send(t, c, id, model)
	w.ended([]pawl.SessionID{id}, time.Minute)
	row, err := w.log.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if place, err := w.log.Workspace(t.Context(), row.Dir); err != nil || place.Host != "host2" {
		t.Errorf("it is at %+v, %v", place, err)
	}
	w.checkEnds(id, pawl.ReasonEndTurn, pawl.ReasonEndTurn)
	var began pawl.Seq // the first turn's message
	for _, e := range w.events(id) {
		if _, ok := e.Body.(pawl.TurnStarted); ok && began == 0 {
			began = e.Seq
		}
	}
	defer w.checkDropped(c, id, row.Dir)
	plan, err := c.Preview(t.Context(), id, pawl.Undo{To: began})
	if err != nil || len(plan.Files) == 0 {
		t.Errorf("the first turn cannot be undone: %+v, %v", plan, err)
	}
}

// A workspace begins as a repository.
func TestSource(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	w.worker("host1")
	_, c := w.api("api1")
	origin := filepath.Join(w.dir, "origin")
	out, err := exec.Command("sh", "-c", `git init -q -b trunk "$1" && cd "$1" && git config user.name a && git config user.email a@b && echo one > f && git add f && git commit -qm one`, "sh", origin).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	model := w.script(`{"text":"look","calls":[{"name":"bash","input":{"command":"cat f; git log --format=%s"}}]}`, `{"expect":"one\none","text":"done"}`)
	for range 2 { // the second comes from what the host has kept
		s, err := c.Create(t.Context(), pawl.NewSession{Dir: w.folder(), Source: "file://" + origin})
		if err != nil {
			t.Fatal(err)
		}
		send(t, c, s.ID, model)
		w.ended([]pawl.SessionID{s.ID}, time.Minute)
		w.checkEnds(s.ID, pawl.ReasonEndTurn)
	}
}

// A repository that cannot be had is no silent wait: those who may not ask for it learn that
// when the session is made, and otherwise those who watch learn why it waits.
func TestSourceRemoved(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	w.worker("host1")
	_, c := w.api("api1")
	if _, err := c.Create(t.Context(), pawl.NewSession{Dir: w.folder(), Source: "https://127.0.0.1/shop.git"}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("a repository on the fleet's own network: %v", err)
	}
	s, err := c.Create(t.Context(), pawl.NewSession{Dir: w.folder(), Source: "file://" + filepath.Join(w.dir, "gone")})
	if err != nil {
		t.Fatal(err)
	}
	send(t, c, s.ID, w.script(`{"text":"done"}`))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e, err := range c.Events(ctx, s.ID, 0) {
		if err != nil {
			t.Fatalf("nobody was told: %v", err)
		}
		if b, ok := e.Body.(pawl.Status); ok && strings.Contains(b.Message, "gone") && strings.Contains(b.Message, "retrying") {
			return
		}
	}
	t.Error("nobody was told")
}

func send(t *testing.T, c pawl.Service, id pawl.SessionID, model string) {
	t.Helper()
	_, err := c.Send(t.Context(), id, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, Mode: "yolo"}})
	if err != nil {
		t.Fatal(err)
	}
}

// checkEnds fails unless the turns have ended so.
func (w *env) checkEnds(id pawl.SessionID, want ...pawl.Reason) {
	w.Helper()
	var got []pawl.Reason
	for _, e := range w.events(id) {
		if end, ok := e.Body.(pawl.TurnFinished); ok {
			got = append(got, end.Reason)
			if end.Message != "" {
				w.Log(end.Message)
			}
		}
	}
	if !slices.Equal(want, got) {
		w.Errorf("the turns of %s ended with %v, want %v", id, got, want)
	}
}

// checkDropped deletes a session, and sees that nothing is kept of its workspace.
func (w *env) checkDropped(c pawl.Service, id pawl.SessionID, dir string) {
	w.Helper()
	blobs := func() int {
		files, err := filepath.Glob(filepath.Join(w.dir, "blobs", "*", "*", "*", "*"))
		if err != nil {
			w.Error(err)
		}
		return len(files)
	}
	if blobs() == 0 {
		w.Error("nothing was kept")
	}
	if err := c.Delete(w.Context(), id); err != nil {
		w.Error(err)
	}
	if _, err := w.log.Workspace(w.Context(), dir); !errors.Is(err, pawl.ErrNotFound) {
		w.Errorf("its workspace: %v", err)
	}
	if n := blobs(); n > 0 {
		w.Errorf("%d blobs are left", n)
	}
}
