package runner

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// testEnv is a complete Pawl without a runner, with one session that has queued prompts.
type testEnv struct {
	pawl.Service
	t       *testing.T
	store   *sqlite.Store
	bus     *bus.Bus
	stepper *agent.Stepper
	id      pawl.SessionID
	dir     string

	// Hooks into what the stepper writes; each may be nil.
	before    func(events []pawl.Event) error // an error fails the append, and nothing is written
	after     func(stored []pawl.Event)
	published func(e pawl.Event)
}

// Append appends to the bus and calls the hooks.
func (w *testEnv) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	if w.before != nil {
		if err := w.before(events); err != nil {
			return nil, err
		}
	}
	stored, err := w.bus.Append(ctx, id, after, events...)
	if err == nil && w.after != nil {
		w.after(stored)
	}
	return stored, err
}

// Publish publishes on the bus and calls the hook.
func (w *testEnv) Publish(e pawl.Event) {
	w.bus.Publish(e)
	if w.published != nil {
		w.published(e)
	}
}

// Events returns the events of the bus.
func (w *testEnv) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return w.bus.Events(ctx, id, after)
}

// idler is a runner that does nothing: the tests run the session themselves.
type idler struct{}

func (idler) Start(context.Context, pawl.SessionID) error            { return nil }
func (idler) Wake(context.Context, pawl.SessionID) error             { return nil }
func (idler) Answered(context.Context, pawl.SessionID) error         { return nil }
func (idler) Cancel(context.Context, pawl.SessionID, pawl.Seq) error { return nil }

// oneHost is a registry whose only host has every directory.
type oneHost struct{ fleet.HostRegistry }

func (oneHost) Place(_ context.Context, dir, _ string) (fleet.Workspace, error) {
	return fleet.Workspace{Dir: dir, Host: "here", Epoch: 1}, nil
}

func (oneHost) Workspace(_ context.Context, dir string) (fleet.Workspace, error) {
	return fleet.Workspace{Dir: dir, Host: "here", Epoch: 1}, nil
}

func newTestEnv(t *testing.T, more ...toolapi.Tool) *testEnv {
	t.Helper()
	st := sqlitetest.Open(t)
	tools, err := tool.NewRegistry(append([]toolapi.Tool{tool.Read(st), tool.Write(nil), tool.Bash(tool.NewJobs(st, tool.Unsandboxed{}))}, more...)...)
	ok(t, err)
	w := &testEnv{t: t, store: st, bus: bus.New(st, bus.Config{}), dir: t.TempDir()}
	w.stepper = agent.NewStepper(agent.Config{Store: st, Bus: w, Model: (&provider.Opener{}).Open, Tools: tools, Authority: harness.NewAuthority(t)})
	w.Service = service.New(service.Config{
		Store: st, Bus: w.bus, Runner: idler{}, Check: func(context.Context, string, pawl.Settings) error { return nil },
	})
	s, err := w.Create(t.Context(), pawl.NewSession{Dir: w.dir})
	ok(t, err)
	w.id = s.ID
	return w
}

// script writes a scripted model's file and returns the settings that use it.
func script(t *testing.T, lines ...string) pawl.Settings {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	ok(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return pawl.Settings{Model: "script:" + path}
}

func (w *testEnv) send(text string, d pawl.Delivery, s pawl.Settings) {
	w.t.Helper()
	_, err := w.Send(context.Background(), w.id, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: d, Settings: s})
	if err != nil {
		w.t.Error(err) // not Fatal: it may be called from the goroutine of a step
	}
}

// runLocal runs the session with the local runner until it is idle. It calls during after the start.
func (w *testEnv) runLocal(during ...func(*local.Runner)) {
	w.t.Helper()
	r := local.New(local.Config{Stepper: w.stepper})
	defer r.Close()
	ok(w.t, r.Start(w.t.Context(), w.id))
	for _, do := range during {
		do(r)
	}
	for e, err := range w.Events(w.t.Context(), w.id, 0) {
		ok(w.t, err)
		if s, is := e.Body.(pawl.Status); is {
			w.t.Fatalf("%s: %s", s.State, s.Message)
		}
		if _, is := e.Body.(pawl.TurnFinished); !is {
			continue
		}
		if row, err := w.Get(w.t.Context(), w.id); err != nil || row.State() == pawl.StateIdle {
			return
		}
	}
}

// executor returns an executor with the given stepper.
func (w *testEnv) executor(s Stepper) *Executor {
	return &Executor{Stepper: s, Leases: w.store, Workspaces: &Workspaces{Host: "here", Registry: oneHost{}, Dir: w.t.TempDir()}}
}

// runFleet runs the session's workflow until it ends. wrap may replace the stepper, more may change the
// environment.
func (w *testEnv) runFleet(wrap func(*agent.Stepper) Stepper, more ...func(*testsuite.TestWorkflowEnvironment)) error {
	w.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the host may be busy
	var s Stepper = w.stepper
	if wrap != nil {
		s = wrap(w.stepper)
	}
	register(env, timingFor(0))
	env.RegisterActivity(w.executor(s))
	env.RegisterActivity(&Coordinator{Store: w.store, Registry: oneHost{}})
	for _, f := range more {
		f(env)
	}
	env.ExecuteWorkflow(sessionFlow, Job{Session: w.id})
	if !env.IsWorkflowCompleted() {
		w.t.Fatal("the workflow has not ended")
	}
	return env.GetWorkflowError()
}

// log returns the session's events. It fails unless they form a conversation, in which each call has one result.
func (w *testEnv) log() []pawl.Event {
	w.t.Helper()
	var events []pawl.Event
	for e, err := range w.store.Events(w.t.Context(), w.id, 0) {
		ok(w.t, err)
		events = append(events, e)
	}
	_, err := pawl.Conversation(events)
	ok(w.t, err)
	return events
}

func bodies(events []pawl.Event) []pawl.Body {
	list := make([]pawl.Body, len(events))
	for i, e := range events {
		list[i] = e.Body
	}
	return list
}

// compareLogs fails if the logs differ in more than times and directories.
func compareLogs(t *testing.T, onLocal, onFleet *testEnv) {
	t.Helper()
	diff := cmp.Diff(bodies(onLocal.log()), bodies(onFleet.log()),
		cmpopts.IgnoreFields(pawl.SessionCreated{}, "Dir"),
		cmpopts.IgnoreMapEntries(func(key, _ string) bool { return key == "duration_ms" }))
	if diff != "" {
		t.Errorf("the logs differ (- local, + fleet):\n%s", diff)
	}
}

// checkEnd fails unless the log ends with want.
func checkEnd(t *testing.T, w *testEnv, want pawl.TurnFinished) {
	t.Helper()
	all := w.log()
	if diff := cmp.Diff(pawl.Body(want), all[len(all)-1].Body); diff != "" {
		t.Errorf("the end (- want, + got):\n%s", diff)
	}
}
