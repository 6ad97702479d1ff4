//go:build fleet

package fleet

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// lost is a fleet whose sessions may be left alone.
type lost struct {
	*testing.T
	servicetest.Harness
	engine runner.Engine
	store  *postgres.Store
	runner *runner.Runner
}

func newLost(t *testing.T) *lost {
	t.Helper()
	st, err := postgres.Open(t.Context(), harness.Stores["postgres"](t))
	if err != nil {
		t.Fatal(err)
	}
	engine := dial(t)
	if err := st.AddTenant(t.Context(), store.Account{Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	return &lost{T: t, Harness: inFleet(t, engine, st, 0), engine: engine, store: st, runner: &runner.Runner{Engine: engine}}
}

// session makes one of a tenant.
func (l *lost) session(ctx context.Context) pawl.SessionID {
	l.Helper()
	s, err := l.Service.Create(ctx, pawl.NewSession{Dir: l.TempDir()})
	if err != nil {
		l.Fatal(err)
	}
	return s.ID
}

// model is a script's.
func (l *lost) model(script string) pawl.Settings {
	l.Helper()
	path := filepath.Join(l.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		l.Fatal(err)
	}
	return pawl.Settings{Model: "script:" + path}
}

// until waits for an event of a session.
func (l *lost) until(ctx context.Context, id pawl.SessionID, wanted func(pawl.Body) bool) pawl.Event {
	l.Helper()
	for e, err := range l.Service.Events(ctx, id, 0) {
		if err != nil {
			l.Fatal(err)
		}
		if wanted(e.Body) {
			return e
		}
	}
	l.Fatal("it has not come")
	return pawl.Event{}
}

func ended(b pawl.Body) bool { _, ok := b.(pawl.TurnFinished); return ok }
func asked(b pawl.Body) bool { _, ok := b.(pawl.Asked); return ok }

// adopter looks every few milliseconds.
func (l *lost) adopter() *runner.Adopter {
	return &runner.Adopter{
		Tenants: l.store, Sessions: l.Service, HasWorkflow: l.runner.HasWorkflow, Log: slog.New(slog.DiscardHandler), HostTimeout: 15 * time.Millisecond, Age: time.Nanosecond,
		WithLock: func(ctx context.Context, do func(context.Context) error) (bool, error) {
			return l.store.Alone(ctx, "adopt", do)
		},
	}
}

// works reports whether a session has a workflow.
func (l *lost) works(ctx context.Context, id pawl.SessionID) bool {
	l.Helper()
	works, err := l.runner.HasWorkflow(ctx, id)
	if err != nil {
		l.Fatal(err)
	}
	return works
}

// Work that was taken in by a node that died before it told anybody is done, and a
// workflow that was lost is begun anew, for all tenants. Two nodes look.
func TestAdoption(t *testing.T) { //nolint:paralleltest // it sets environment variables
	l := newLost(t)
	const asks = `{"calls":[{"name":"question","input":{"questions":[{"header":"Store","question":"Which one?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}}]}`
	bound, cancel := context.WithTimeout(t.Context(), time.Minute) // ends a test in which nobody comes
	defer cancel()
	tenants := []context.Context{bound, store.WithTenant(bound, "acme")}
	var untold, cut []pawl.SessionID
	var asking []pawl.Seq
	for _, ctx := range tenants {
		id := l.session(ctx)
		body := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: l.model(`{"text":"Ok."}` + "\n")}
		if _, err := l.store.Append(ctx, id, 1, pawl.Event{At: time.Now(), Body: body}); err != nil {
			t.Fatal(err)
		}
		untold = append(untold, id)

		id = l.session(ctx)
		p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: l.model(asks + "\n" + `{"text":"Ok."}` + "\n")}
		if _, err := l.Service.Send(ctx, id, p); err != nil {
			t.Fatal(err)
		}
		asking = append(asking, l.until(ctx, id, asked).Seq)
		if err := l.engine.TerminateWorkflow(ctx, l.engine.Queue+"/"+string(id), "", "it is lost"); err != nil {
			t.Fatal(err)
		}
		if l.works(ctx, id) {
			t.Fatal("the workflow has not ended")
		}
		cut = append(cut, id)
	}
	look, end := context.WithCancel(t.Context())
	done := make(chan struct{}, 2)
	for range 2 {
		go func() { l.adopter().Run(look); done <- struct{}{} }()
	}
	defer func() { end(); <-done; <-done }()
	for i, ctx := range tenants {
		l.until(ctx, untold[i], ended)
		for !l.works(ctx, cut[i]) { // each look asks the engine
			if ctx.Err() != nil {
				t.Fatal("nobody took it up")
			}
		}
		answer := pawl.Answer{Outcome: pawl.OutcomeDenied}
		if err := l.Service.Answer(ctx, cut[i], asking[i], answer); err != nil {
			t.Fatal(err)
		}
		l.until(ctx, cut[i], ended)
	}
}

// spoiled are sessions of which one cannot be resumed.
type spoiled struct {
	runner.Sessions
	id pawl.SessionID
}

var errSpoiled = errors.New("its log cannot be read")

func (s spoiled) Resume(ctx context.Context, id pawl.SessionID) error {
	if id == s.id {
		return errSpoiled
	}
	return s.Sessions.Resume(ctx, id)
}

// One that cannot be helped keeps nobody from the others.
func TestAdoption_Spoiled(t *testing.T) { //nolint:paralleltest // it sets environment variables
	l := newLost(t)
	bound, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var ids []pawl.SessionID
	for range 3 {
		id := l.session(bound)
		body := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: l.model(`{"text":"Ok."}` + "\n")}
		if _, err := l.store.Append(bound, id, 1, pawl.Event{At: time.Now(), Body: body}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	a := l.adopter()
	a.Sessions = spoiled{a.Sessions, ids[1]}
	if err := a.Scan(bound); !errors.Is(err, errSpoiled) || !strings.Contains(err.Error(), string(ids[1])) {
		t.Errorf("nobody is told: %v", err)
	}
	l.until(bound, ids[0], ended)
	l.until(bound, ids[2], ended)
}

// What is younger is left alone, and so is what works.
func TestAdoptionWaits(t *testing.T) { //nolint:paralleltest // it sets environment variables
	l := newLost(t)
	id := l.session(t.Context())
	body := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: l.model(`{"text":"Ok."}` + "\n")}
	if _, err := l.store.Append(t.Context(), id, 1, pawl.Event{At: time.Now(), Body: body}); err != nil {
		t.Fatal(err)
	}
	a := l.adopter()
	a.Age = time.Hour
	if err := a.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.works(t.Context(), id) {
		t.Error("a session was taken up that is younger")
	}
}
