//go:build fleet

package runner

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
)

var update = flag.Bool("update", false, "record the histories anew")

// hosts is a registry that assigns every workspace to the first host, or to the second if the first is lost.
type hosts struct {
	fleet.HostRegistry
	first, second string
}

func (h hosts) Place(_ context.Context, dir, lost string) (fleet.Workspace, error) {
	if lost != "" {
		return fleet.Workspace{Dir: dir, Host: h.second, Epoch: 2}, nil
	}
	return fleet.Workspace{Dir: dir, Host: h.first, Epoch: 1}, nil
}

func (h hosts) Workspace(_ context.Context, dir string) (fleet.Workspace, error) {
	if h.first != h.second {
		return fleet.Workspace{Dir: dir, Host: h.second, Epoch: 2}, nil
	}
	return fleet.Workspace{Dir: dir, Host: h.first, Epoch: 1}, nil
}

// on runs the session on a real Temporal server with a host in this process, until the workflow has ended.
func (w *testEnv) on(registry hosts, during func(*Runner)) *history.History {
	t := w.t
	t.Helper()
	address := os.Getenv("PAWL_TEST_TEMPORAL")
	if address == "" {
		t.Fatal(`PAWL_TEST_TEMPORAL is not set: run 'dev/services up' and eval "$(dev/services env)"`)
	}
	engine, err := Dial(t.Context(), address, "pawl", slog.New(slog.DiscardHandler))
	ok(t, err)
	defer engine.Close()
	engine.Queue = "coordinator-" + registry.second
	w.stepper.Suspend = true
	executor := w.executor(w.stepper)
	executor.Workspaces.Host, executor.Workspaces.Registry = registry.second, registry
	stopCoordinator, err := StartCoordinator(engine, &Coordinator{Store: w.store, Registry: registry}, "", 0)
	ok(t, err)
	defer stopCoordinator()
	stopExecutor, err := StartExecutor(engine, executor, 0)
	ok(t, err)
	defer stopExecutor()
	r := &Runner{Engine: engine}
	ok(t, r.Start(t.Context(), w.id))
	during(r)
	ok(t, engine.GetWorkflow(t.Context(), engine.workflow(w.id), "").Get(t.Context(), nil))
	var h history.History
	events := engine.GetWorkflowHistory(t.Context(), engine.workflow(w.id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		ok(t, err)
		h.Events = append(h.Events, e)
	}
	return &h
}

// until waits for an event of the session.
func (w *testEnv) until(wanted func(pawl.Event) bool) pawl.Event {
	w.t.Helper()
	for e, err := range w.Events(w.t.Context(), w.id, 0) {
		ok(w.t, err)
		if wanted(e) {
			return e
		}
	}
	w.t.Fatal("what was waited for did not come")
	return pawl.Event{}
}

// stories are the sessions that are recorded.
var stories = map[string]struct {
	lines  []string
	mode   string
	lost   bool
	during func(w *testEnv) func(*Runner)
	want   pawl.Reason
}{
	"plain": {
		lines: []string{`{"calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`, `{"text":"done"}`},
		want:  pawl.ReasonEndTurn,
	},
	"answered": {
		lines: []string{`{"calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`, `{"text":"done"}`}, mode: "ask",
		during: func(w *testEnv) func(*Runner) {
			return func(r *Runner) {
				asked := w.until(func(e pawl.Event) bool { _, is := e.Body.(pawl.Asked); return is })
				ok(w.t, w.Answer(w.t.Context(), w.id, asked.Seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
				ok(w.t, r.Answered(w.t.Context(), w.id))
			}
		},
		want: pawl.ReasonEndTurn,
	},
	"canceled": {
		lines: []string{`{"text":"I am thinking hard","deltas":4,"fault":"hang"}`},
		during: func(w *testEnv) func(*Runner) {
			hang := w.hangs()
			return func(r *Runner) {
				<-hang
				ok(w.t, r.Cancel(w.t.Context(), w.id, 2))
			}
		},
		want: pawl.ReasonCanceled,
	},
	"moved": {
		lines: []string{`{"calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`, `{"text":"done"}`}, lost: true,
		want: pawl.ReasonEndTurn,
	},
}

// who matches the identity of the host that recorded a history, which must not be published.
var who = regexp.MustCompile(`("identity": *)"[^"]*"`)

// TestRecord runs the sessions of TestReplay on a real server; with -update it stores their histories.
func TestRecord(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t)
			settings := script(t, story.lines...)
			settings.Mode = story.mode
			w.send("go", pawl.DeliverNow, settings)
			host := strings.ToLower(ulid.Make().String())
			registry := hosts{first: host, second: host}
			if story.lost {
				registry.first = "lost-" + host
			}
			during := func(*Runner) {}
			if story.during != nil {
				during = story.during(w)
			}
			h := w.on(registry, during)
			end := w.log()[len(w.log())-1].Body
			if got, is := end.(pawl.TurnFinished); !is || got.Reason != story.want {
				t.Errorf("the turn ends with %+v, want %s", end, story.want)
			}
			if !*update {
				return
			}
			text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
			ok(t, err)
			text = append(who.ReplaceAll(text, []byte(`$1"worker"`)), '\n')
			ok(t, os.WriteFile(filepath.Join("testdata", "histories", name+".json"), text, 0o600))
		})
	}
}
