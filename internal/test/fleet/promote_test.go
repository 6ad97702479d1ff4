//go:build fleet

package fleet

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// versioned is a fleet of one host whose coordinators come and go.
type versioned struct {
	*testing.T
	pawl.Service
	engine runner.Engine
	store  *postgres.Store
	host   string
	spaces *runner.Workspaces
}

func newVersioned(t *testing.T) *versioned {
	t.Helper()
	f := &versioned{T: t, engine: dial(t), host: strings.ToLower(ulid.Make().String())}
	var err error
	if f.store, err = postgres.Open(t.Context(), harness.Stores["postgres"](t)); err != nil {
		t.Fatal(err)
	}
	f.Service = servicetest.By(t, f.store, func(s *agent.Stepper) (service.Runner, func()) {
		f.spaces = &runner.Workspaces{Host: f.host, Registry: f.store, Dir: t.TempDir()}
		s.Suspend = true
		ctx, end := context.WithCancel(context.Background())
		heartbeats := make(chan struct{})
		go func() {
			defer close(heartbeats)
			runner.Heartbeat(ctx, f.spaces, "test", 100, slog.New(slog.DiscardHandler))
		}()
		stop, err := runner.StartExecutor(f.engine, &runner.Executor{Stepper: s, Leases: f.store, Workspaces: f.spaces}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return &runner.Runner{Engine: f.engine}, func() { stop(); end(); <-heartbeats }
	}).Service
	return f
}

// coordinator starts one of a version, and has new work go to it.
func (f *versioned) coordinator(version string) (stop func()) {
	f.Helper()
	stop, err := runner.StartCoordinator(f.engine, &runner.Coordinator{Store: f.store, Registry: f.store}, version, 0)
	if err != nil {
		f.Fatal(err)
	}
	if err := runner.WaitForVersion(f.Context(), f.engine, version); err != nil {
		f.Fatal(err)
	}
	if err := runner.Promote(f.Context(), f.engine, version); err != nil {
		f.Fatal(err)
	}
	return stop
}

// begin makes a session that waits for an answer.
func (f *versioned) begin() (id pawl.SessionID, ask pawl.Seq) {
	f.Helper()
	dir := f.TempDir()
	script := filepath.Join(dir, "script.jsonl")
	question := `{"calls":[{"name":"question","input":{"questions":[{"header":"Store","question":"Which one?","options":[{"label":"a"},{"label":"b"}]}]}}]}`
	if err := os.WriteFile(script, []byte(question+"\n"+`{"text":"Done."}`+"\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	s, err := f.Create(f.Context(), pawl.NewSession{Dir: dir})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := f.Send(f.Context(), s.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "script:" + script}}); err != nil {
		f.Fatal(err)
	}
	return s.ID, f.until(s.ID, func(b pawl.Body) bool { _, ok := b.(pawl.Asked); return ok }).Seq
}

// until waits for an event.
func (f *versioned) until(id pawl.SessionID, wanted func(pawl.Body) bool) pawl.Event {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	for e, err := range f.Events(ctx, id, 0) {
		if err != nil {
			f.Fatal(err)
		}
		if wanted(e.Body) {
			return e
		}
	}
	f.Fatal("the events end")
	return pawl.Event{}
}

func (f *versioned) open(id pawl.SessionID) bool {
	f.Helper()
	s, err := f.Get(f.Context(), id)
	if err != nil {
		f.Fatal(err)
	}
	return s.TurnOpen
}

func (f *versioned) reason(id pawl.SessionID) (r pawl.Reason) {
	f.Helper()
	f.until(id, func(b pawl.Body) bool {
		end, ok := b.(pawl.TurnFinished)
		r = end.Reason
		return ok
	})
	return r
}

// TestRescue: a session whose version has no worker any more goes on with the
// current one, and what was canceled meanwhile is.
func TestRescue(t *testing.T) { //nolint:paralleltest // it sets environment variables
	f := newVersioned(t)
	stop := f.coordinator("v1")
	answered, ask := f.begin()
	canceled, _ := f.begin()
	stop()
	defer f.coordinator("v2")()
	ctx := f.Context()
	if err := f.Answer(ctx, answered, ask, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"a"}}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Cancel(ctx, canceled); err != nil {
		t.Fatal(err)
	}
	for f.open(answered) || f.open(canceled) { // the engine lists them a little later
		if _, err := runner.Rescue(ctx, f.engine, "v1"); err != nil {
			t.Fatal(err)
		}
	}
	if r := f.reason(answered); r != pawl.ReasonEndTurn {
		t.Errorf("the one that was answered ended with %s", r)
	}
	if r := f.reason(canceled); r != pawl.ReasonCanceled {
		t.Errorf("the one that was canceled ended with %s", r)
	}
}

// TestQueues: what is reported of the queues is what the engine knows.
func TestQueues(t *testing.T) { //nolint:paralleltest // it sets environment variables
	f := newVersioned(t)
	stop := f.coordinator("v1")
	defer stop()
	defer f.coordinator("v2")()
	ctx, nobody := f.Context(), "nobody-"+f.host
	f.eventually(func() bool {
		queues, err := runner.Queues(ctx, f.engine, f.host, nobody)
		if err != nil {
			t.Fatal(err)
		}
		names, polled := []string{}, []bool{}
		for _, q := range queues {
			names, polled = append(names, q.Name), append(polled, q.Pollers > 0)
		}
		if diff := cmp.Diff([]string{f.engine.Queue, runner.ExecutorQueue(f.host), runner.ExecutorQueue(nobody)}, names); diff != "" {
			t.Fatal(diff)
		}
		return slices.Equal(polled, []bool{true, true, false}) && slices.Equal(queues[0].Versions, []string{"v1", "v2"})
	})
	if left, err := runner.StrandedVersions(ctx, f.engine); len(left) != 0 || err != nil {
		t.Errorf("with workers of both versions %v are stranded, %v", left, err)
	}
	versions, err := runner.Versions(ctx, f.engine)
	slices.SortFunc(versions, func(a, b runner.Version) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff([]runner.Version{{ID: "v1"}, {ID: "v2", Current: true}}, versions); diff != "" || err != nil {
		t.Errorf("versions: %v (-want +got):\n%s", err, diff)
	}
}

// TestBacklog: work that nobody takes is seen, with how long it waits.
func TestBacklog(t *testing.T) { //nolint:paralleltest // it sets environment variables
	f := newVersioned(t)
	f.coordinator("v1")()
	s, err := f.Create(f.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&runner.Runner{Engine: f.engine}).Start(f.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	f.eventually(func() bool {
		queues, err := runner.Queues(f.Context(), f.engine)
		if err != nil {
			t.Fatal(err)
		}
		return queues[0].Backlog == 1 && queues[0].Oldest > 0
	})
}

// eventually waits until something holds that the engine tells late.
func (f *versioned) eventually(holds func() bool) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			f.Fatal("it does not come to hold")
		}
	}
}

// TestAskedToDrain: a host hears that it is to drain, and that it is not.
func TestAskedToDrain(t *testing.T) { //nolint:paralleltest // it sets environment variables
	f := newVersioned(t)
	f.eventually(func() bool { return f.store.Drain(f.Context(), f.host, true) == nil }) // it has registered
	f.eventually(f.spaces.Draining)
	if err := f.store.Drain(f.Context(), f.host, false); err != nil {
		t.Fatal(err)
	}
	f.eventually(func() bool { return !f.spaces.Draining() })
	f.spaces.Drain() // it ends: no one can revoke that
	f.eventually(func() bool {
		hosts, err := f.store.Hosts(f.Context())
		return err == nil && len(hosts) == 1 && hosts[0].Draining
	})
	if !f.spaces.Draining() {
		t.Error("a host that ends does not leave")
	}
}

// TestUnknownVersion: nobody waits for a version for ever.
func TestUnknownVersion(t *testing.T) { //nolint:paralleltest // it sets environment variables
	f := newVersioned(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := runner.WaitForVersion(ctx, f.engine, "v9"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("a version that nobody has: %v", err)
	}
}
