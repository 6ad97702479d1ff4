package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// livesVar makes the test binary a process that says who it is and lives until it is killed.
const livesVar = "LOCAL_TEST_LIVES"

func TestMain(m *testing.M) {
	if os.Getenv(livesVar) != "" {
		fmt.Println(proc.Self())
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const session pawl.SessionID = "01JD0000000000000000000000"

// The processes that work on sessions in these tests. Each "lives" as this test
// does, or no longer exists.
var (
	here      = process("here", 0)
	there     = process("there", 0)
	dead      = process("dead", 1<<30)
	elsewhere = proc.Identity{Host: "elsewhere", PID: 1 << 30, Start: "1", Machine: "another machine", Mark: "elsewhere"}
)

func process(name string, pid int) proc.Identity {
	i := proc.Self()
	i.Host, i.Mark = name, "mark-of-"+name
	if pid != 0 {
		i.PID = pid
	}
	return i
}

// testEnv is one store, on which several runners work.
type testEnv struct {
	t     *testing.T
	store store.Store
	bus   *bus.Bus
	model model.Model
	hall  *hall
}

func newEnv(t *testing.T, lines ...string) *testEnv {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := script.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	st, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &testEnv{t: t, store: st, bus: bus.New(st, bus.Config{}), model: m}
	w.hall = &hall{t: t, entered: make(chan pawl.CallID, 1000), leave: make(chan struct{}, 1000)}
	return w
}

// runner returns a process's runner. It is closed with the test.
func (w *testEnv) runner(owner proc.Identity, ttl time.Duration) *Runner {
	return w.runnerOn(w.store, owner, ttl)
}

func (w *testEnv) runnerOn(st store.Store, owner proc.Identity, ttl time.Duration) *Runner {
	w.t.Helper()
	tools, err := tool.NewRegistry(w.hall.tool("read", pawl.AccessRead), w.hall.tool("act", pawl.AccessWrite))
	if err != nil {
		w.t.Fatal(err)
	}
	r := New(Config{Owner: owner, LeaseTTL: ttl, Stepper: agent.NewStepper(agent.Config{
		Store: st, Bus: busOn(st, w.bus), Tools: tools, Authority: harness.NewAuthority(w.t),
		Model: func(string) (model.Model, error) { return w.model, nil },
	})})
	w.t.Cleanup(r.Close)
	return r
}

// busOn is the bus, but with appends that go through st.
func busOn(st store.Store, b *bus.Bus) agent.Bus {
	if _, plain := st.(*sqlite.Store); plain {
		return b
	}
	return through{b, st}
}

type through struct {
	*bus.Bus
	st store.Store
}

func (b through) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	return b.st.Append(ctx, id, after, events...)
}

// create makes a session.
func (w *testEnv) create(id pawl.SessionID) { w.append(id, pawl.SessionCreated{Dir: w.t.TempDir()}) }

// prompt makes a session, if it does not exist, with a prompt that waits.
func (w *testEnv) prompt(id pawl.SessionID, text string) pawl.Seq {
	return w.append(id, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: pawl.DeliverQueue})
}

func (w *testEnv) append(id pawl.SessionID, bodies ...pawl.Body) pawl.Seq {
	w.t.Helper()
	for {
		row, err := w.store.Session(context.Background(), id)
		if err != nil && !errors.Is(err, pawl.ErrNotFound) {
			w.t.Error(err)
			return 0
		}
		var events []pawl.Event
		for _, b := range bodies {
			events = append(events, pawl.Event{Turn: row.Turns, At: time.Now(), Body: b})
		}
		stored, err := w.bus.Append(context.Background(), id, row.Head, events...)
		if errors.Is(err, pawl.ErrConflict) {
			continue
		}
		if err != nil {
			w.t.Error(err)
			return 0
		}
		return stored[len(stored)-1].Seq
	}
}

func (w *testEnv) row(id pawl.SessionID) pawl.Session {
	w.t.Helper()
	row, err := w.store.Session(context.Background(), id)
	if err != nil {
		w.t.Error(err)
	}
	return row
}

func (w *testEnv) events(id pawl.SessionID) []pawl.Event {
	w.t.Helper()
	var events []pawl.Event
	for e, err := range w.store.Events(context.Background(), id, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// reasons are those of the turns, by their prompts.
func (w *testEnv) reasons(id pawl.SessionID) map[pawl.Seq]pawl.Reason {
	w.t.Helper()
	reasons := map[pawl.Seq]pawl.Reason{}
	var prompt pawl.Seq
	for _, e := range w.events(id) {
		switch b := e.Body.(type) {
		case pawl.TurnStarted:
			prompt = b.Prompt
		case pawl.TurnFinished:
			reasons[prompt] = b.Reason
		default:
		}
	}
	return reasons
}

// idle waits until the session has nothing to do, and fails if it was interrupted.
func (w *testEnv) idle(id pawl.SessionID) {
	w.t.Helper()
	if w.row(id).State() == pawl.StateIdle {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for e, err := range w.bus.Events(ctx, id, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if s, ok := e.Body.(pawl.Status); ok && s.State == "interrupted" {
			w.t.Fatalf("the work was interrupted: %s", s.Message)
		}
		if w.row(id).State() == pawl.StateIdle {
			return
		}
	}
	w.t.Fatalf("session %s is still %s", id, w.row(id).State())
}

// patience ends a test in which what should come does not. In a bubble of fake
// time it costs nothing.
const patience = time.Minute

func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("never came: %s", what)
		panic("unreachable")
	}
}

func check[T any](t *testing.T, want, got T, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("want -, got +: %s", diff)
	}
}

// hall holds tool calls until they may leave.
type hall struct {
	t       *testing.T
	entered chan pawl.CallID
	leave   chan struct{} // a token lets one call go
	mu      sync.Mutex
	runs    int
}

func (h *hall) tool(name string, kind pawl.AccessKind) toolapi.Tool {
	return toolapi.Tool{
		Spec: toolapi.Spec{Name: name, Schema: json.RawMessage(`{}`)},
		Access: func(context.Context, toolapi.Call) ([]pawl.Access, error) {
			return []pawl.Access{{Kind: kind, Target: name}}, nil
		},
		Run: func(ctx context.Context, c toolapi.Call) (pawl.Result, error) {
			h.mu.Lock()
			h.runs++
			h.mu.Unlock()
			h.entered <- c.ID
			select {
			case <-h.leave:
				return pawl.Result{Content: "done"}, nil
			case <-ctx.Done():
				return pawl.Result{Content: "half"}, ctx.Err()
			}
		},
	}
}

func (h *hall) wait() { h.t.Helper(); receive(h.t, h.entered, "a call that runs") }
func (h *hall) free() { h.leave <- struct{}{} }

// acts is a turn with one call of the tool, and an answer.
func acts(tool string) []string {
	return []string{fmt.Sprintf(`{"calls":[{"name":%q}]}`, tool), `{"text":"Done."}`}
}

func mustStart(t *testing.T, r *Runner, id pawl.SessionID) {
	t.Helper()
	if err := r.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func checkBusy(t *testing.T, err error, holder string) {
	t.Helper()
	var busy *pawl.BusyError
	if !errors.As(err, &busy) || !errors.Is(err, pawl.ErrBusy) {
		t.Fatalf("got %v, want a BusyError", err)
	}
	if !strings.Contains(busy.Holder, holder) || busy.Session != session {
		t.Errorf("it says %+v, which does not name %s", busy, holder)
	}
}
