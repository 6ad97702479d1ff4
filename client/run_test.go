package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// runEnv is a client of a real server, which can be restarted.
type runEnv struct {
	*testing.T
	c      *client.Client
	svc    pawl.Service
	up     *instance
	socket string
	dir    string
}

func newRunEnv(t *testing.T) *runEnv {
	t.Helper()
	e := &runEnv{T: t, svc: servicetest.Local(t).Service, socket: filepath.Join(t.TempDir(), "s"), dir: t.TempDir()}
	e.up = start(t, e.socket, e.svc)
	t.Cleanup(func() { e.up.stop(t) })
	c, err := client.New(client.Config{URL: "unix://" + e.socket})
	if err != nil {
		t.Fatal(err)
	}
	e.c = c
	t.Cleanup(c.Close)
	return e
}

// restart ends all connections.
func (e *runEnv) restart() {
	e.up.stop(e.T)
	e.up = start(e.T, e.socket, e.svc)
}

// prompt returns a prompt whose model gives these replies.
func (e *runEnv) prompt(mode string, replies ...string) pawl.Prompt {
	e.Helper()
	path := filepath.Join(e.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(replies, "\n")), 0o600); err != nil {
		e.Fatal(err)
	}
	return pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "Go."}}, Settings: pawl.Settings{Model: "script:" + path, Mode: mode}}
}

// TestRun checks that Run has the permission prompt of a subagent answered, and returns the end of the turn.
func TestRun(t *testing.T) { //nolint:paralleltest // it sets environment variables
	e := newRunEnv(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var long strings.Builder // longer than a text of the stream
	for i := range 3000 {
		fmt.Fprintf(&long, "line %d of %d, ", i, i*i)
	}
	prompt := e.prompt("ask", `{"calls":[{"name":"task","input":{"description":"x","prompt":"do it","agent":"general"}}]}`, fmt.Sprintf(`{"text":%q}`, long.String()),
		`{"agent":"general","calls":[{"name":"bash","input":{"command":"touch a"}}]}`, `{"agent":"general","text":"Ok."}`)
	var asks []client.OpenAsk
	kinds := map[string]string{}
	turn, err := e.c.Run(ctx, client.RunConfig{
		New: pawl.NewSession{Dir: e.dir}, Prompt: prompt,
		OnItem: func(it client.Item) { kinds[it.ID] = string(it.Kind) },
		OnAsk: func(_ context.Context, a client.OpenAsk) (*pawl.Answer, error) {
			asks = append(asks, a)
			return client.Choose(a, "allow"), nil
		},
	})
	if err != nil || turn.Reason != pawl.ReasonEndTurn || turn.Text != long.String() {
		t.Fatalf("the turn ended with %s, %d bytes: %v", turn.Reason, len(turn.Text), err)
	}
	if len(asks) != 1 || asks[0].Root != turn.Session || asks[0].Session == turn.Session {
		t.Errorf("the asks were %+v", asks)
	}
	items, _, err := e.c.Items(ctx, turn.Session, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if kinds[it.ID] != string(it.Kind) {
			t.Errorf("item %s was not reported", it.ID)
		}
	}
}

// TestRunFails checks that an error of OnAsk ends Run.
func TestRunFails(t *testing.T) { //nolint:paralleltest // it sets environment variables
	e := newRunEnv(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	wrong := errors.New("from the function")
	turn, err := e.c.Run(ctx, client.RunConfig{
		New: pawl.NewSession{Dir: e.dir}, Prompt: e.prompt("ask", `{"calls":[{"name":"bash","input":{"command":"touch a"}}]}`),
		OnAsk: func(context.Context, client.OpenAsk) (*pawl.Answer, error) { return nil, wrong },
	})
	if !errors.Is(err, wrong) {
		t.Errorf("Run returned %v", err)
	}
	if err := e.c.Cancel(ctx, turn.Session); err != nil {
		t.Error(err)
	}
}

// TestItemsGoOn restarts the server in the middle of texts, and checks that no item is missing, repeated or left over.
func TestItemsGoOn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	e := newRunEnv(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := e.c.Create(ctx, pawl.NewSession{Dir: e.dir})
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	for i := range 60 {
		fmt.Fprintf(&words, "word%d ", i)
	}
	text := fmt.Sprintf(`"text":%q,"deltas":60,"delay_ms":10`, words.String())
	if _, err := e.c.Send(ctx, s.ID, e.prompt("yolo", `{`+text+`,"calls":[{"name":"bash","input":{"command":"echo hello"}}]}`, `{`+text+`}`)); err != nil {
		t.Fatal(err)
	}
	messages, within := 0, 0
	var last []client.Item
	for list, err := range e.c.FollowItems(ctx, s.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = list.Items
		streaming := 0
		for _, it := range list.Items {
			if it.State == "streaming" {
				streaming++
			}
			if it.Kind == "text" && !strings.HasPrefix(words.String(), it.Text) {
				t.Fatalf("the text is %q", it.Text)
			}
		}
		if slices.ContainsFunc(last, func(it client.Item) bool { return it.End != nil }) {
			break
		}
		if messages++; messages%4 == 0 {
			within += streaming
			e.restart()
		}
	}
	want, _, err := e.c.Items(ctx, s.ID, "", 0)
	if diff := cmp.Diff(want, last); diff != "" || err != nil || within == 0 {
		t.Errorf("%d restarts within a text, %v: - the items, + what was followed\n%s", within, err, diff)
	}
}
