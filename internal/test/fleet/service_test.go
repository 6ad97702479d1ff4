//go:build fleet

package fleet

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// need returns what dev/services says of a server.
func need(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf(`%s is not set: run 'dev/services up' and eval "$(dev/services env)"`, name)
	}
	return value
}

// dial connects to the engine, for a fleet of the test.
func dial(t testing.TB) runner.Engine {
	t.Helper()
	e, err := runner.Dial(t.Context(), need(t, "PAWL_TEST_TEMPORAL"), "pawl", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e.Queue = "coordinator-" + strings.ToLower(ulid.Make().String())
	t.Cleanup(e.Close)
	return e
}

// inProcess is a service whose work a fleet does that is one process. Its steps wait
// for other sessions for as long as patience says.
func inProcess(t testing.TB, patience time.Duration) servicetest.Harness {
	t.Helper()
	st, err := postgres.Open(t.Context(), harness.Stores["postgres"](t))
	if err != nil {
		t.Fatal(err)
	}
	return inFleet(t, dial(t), st, patience)
}

// inFleet is that on an engine and a store.
func inFleet(t testing.TB, engine runner.Engine, st *postgres.Store, patience time.Duration) servicetest.Harness {
	t.Helper()
	return servicetest.By(t, st, func(s *agent.Stepper) (service.Runner, func()) {
		host := strings.ToLower(ulid.Make().String())
		spaces := &runner.Workspaces{Host: host, Registry: st, Dir: t.TempDir()}
		s.Suspend, s.Checkpoint = true, func(ctx context.Context, _ pawl.SessionID, dir string) error { return spaces.Save(ctx, dir) }
		s.SuspendAfter = patience
		summarizer, run := agent.NewSummarizer(s), &runner.Runner{Engine: engine}
		executor := &runner.Executor{Stepper: s, Leases: st, Workspaces: spaces, Summarizer: summarizer}
		executor.Ended = func(ctx context.Context, id pawl.SessionID) {
			if err := run.Ended(ctx, st, id); err != nil && ctx.Err() == nil { // or the worker was stopped: the next one tells
				t.Error(err)
			}
		}
		ctx, end := context.WithCancel(context.Background())
		heartbeats := make(chan struct{})
		go func() {
			defer close(heartbeats)
			runner.Heartbeat(ctx, spaces, "test", 100, slog.New(slog.DiscardHandler))
		}()
		stopCoordinator, err := runner.StartCoordinator(engine, &runner.Coordinator{Store: st, Registry: st}, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		stopExecutor, err := runner.StartExecutor(engine, executor, 0)
		if err != nil {
			t.Fatal(err)
		}
		return run, func() {
			stopCoordinator()
			stopExecutor()
			summarizer.Close()
			end()
			<-heartbeats
		}
	})
}

// A service of a fleet is one like any other.
func TestContract_Fleet(t *testing.T) { //nolint:paralleltest // it sets environment variables
	servicetest.Run(t, func(t *testing.T) servicetest.Harness { return inProcess(t, 0) })
}

// A turn that waits for a child in the background gives its place away, and goes on
// when the child ends: long before it would have looked by itself.
func TestParkedForAChild(t *testing.T) { //nolint:paralleltest // it sets environment variables
	h := inProcess(t, time.Nanosecond)
	dir := t.TempDir()
	script := filepath.Join(dir, "script.jsonl")
	lines := `{"calls":[{"name":"task","input":{"agent":"general","prompt":"x","description":"x","background":true}}]}
{"text":"I wait."}
{"expect":"It is done.","text":"So it is."}
{"agent":"general","text":"It is done.","delay_ms":1000}
`
	if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it would look by itself after two
	defer cancel()
	s, err := h.Service.Create(ctx, pawl.NewSession{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Service.Send(ctx, s.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "script:" + script}}); err != nil {
		t.Fatal(err)
	}
	for e, err := range h.Service.Events(ctx, s.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := e.Body.(pawl.TurnFinished); ok {
			if end.Reason != pawl.ReasonEndTurn || end.Steps != 3 {
				t.Errorf("it ended with %+v", end)
			}
			return
		}
	}
	t.Fatal("it did not end")
}
