package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

const session pawl.SessionID = "01JD0000000000000000000000"

var noon = time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC)

// testEnv is a session with a real store, bus and stepper.
type testEnv struct {
	*agent.Stepper
	t   *testing.T
	bus *heard
}

// heard is a bus that records live events.
type heard struct {
	*bus.Bus
	mu   sync.Mutex
	said []pawl.Event
}

func (h *heard) Publish(e pawl.Event) {
	h.mu.Lock()
	h.said = append(h.said, e)
	h.mu.Unlock()
	h.Bus.Publish(e)
}

// newTestEnv creates a session with a queued prompt.
func newTestEnv(t *testing.T, dir string, open func(string) (model.Model, error), window func(string) (model.Window, error)) *testEnv {
	t.Helper()
	st := sqlitetest.Open(t)
	tools, err := tool.NewRegistry(peek)
	if err != nil {
		t.Fatal(err)
	}
	w := &testEnv{t: t, bus: &heard{Bus: bus.New(st, bus.Config{})}}
	w.Stepper = agent.NewStepper(agent.Config{
		Store: st, Bus: w.bus, Tools: tools, Authority: harness.NewAuthority(t), Clock: func() time.Time { return noon },
		Model: open, Window: window,
	})
	ask := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Look. " + strings.Repeat("Please. ", 100)}}, Settings: pawl.Settings{Model: "m"}}
	if _, err := w.bus.Append(t.Context(), session, 0, pawl.Event{At: noon, Body: pawl.SessionCreated{Dir: dir}}, pawl.Event{At: noon, Body: ask}); err != nil {
		t.Fatal(err)
	}
	return w
}

// peek is a tool that reads.
var peek = toolapi.Tool{
	Spec: toolapi.Spec{Name: "peek", Description: "Peeks.", Schema: json.RawMessage(`{"type":"object"}`)},
	Access: func(_ context.Context, c toolapi.Call) ([]pawl.Access, error) {
		return []pawl.Access{{Kind: pawl.AccessRead, Target: string(c.ID)}}, nil
	},
	Run: func(context.Context, toolapi.Call) (pawl.Result, error) { return pawl.Result{Content: "a little"}, nil },
}

// turn runs the turn and records its end. If the run fails, the turn stays open.
func (w *testEnv) turn() error {
	w.t.Helper()
	turn, ok, err := w.Begin(w.t.Context(), session)
	if err != nil || !ok {
		w.t.Fatal("nothing to do", err)
	}
	reason, err := agent.Run(w.t.Context(), w.Stepper, turn)
	stop, err := agent.StopOf(reason, err)
	if err != nil {
		return err
	}
	return w.Finish(w.t.Context(), turn, stop)
}

// received returns what the followers of a session receive: the log, and live events.
func (w *testEnv) received() (log, said []pawl.Event) {
	w.t.Helper()
	for e, err := range w.Store.Events(w.t.Context(), session, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		log = append(log, e)
	}
	if _, err := pawl.Conversation(log); err != nil {
		w.t.Error(err)
	}
	return log, w.bus.said
}

// narrow is a model that accepts fewer tokens than its window says.
type narrow struct{ model.Model }

func (m narrow) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	if req.Agent == model.AgentCompaction || prompt.Estimate(req.Messages) <= 6000 {
		return m.Model.Stream(ctx, req)
	}
	return says(fmt.Errorf("ask: %w", &model.ProviderError{Kind: pawl.ErrorOverflow, Status: 400, Message: "too long"}), []model.Chunk{text("I beg")}).Stream(ctx, req)
}

// talks returns the lines of a script: n long replies, and then the given lines.
func talks(n int, then ...string) []string {
	var lines []string
	for i := range n {
		var page strings.Builder
		for word := range 1500 {
			fmt.Fprintf(&page, "w%d ", (word*7919+i)%1000)
		}
		lines = append(lines, fmt.Sprintf(`{"text":%q,"calls":[{"name":"peek","input":{"n":%d}}]}`, page.String(), i))
	}
	return append(lines, then...)
}

// TestStepsAreTheSame checks that a turn has the same log and the same live events with a local model and with one
// behind a gateway.
func TestStepsAreTheSame(t *testing.T) {
	t.Parallel()
	call := model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{Name: "peek", Input: json.RawMessage(`{"a": "<b>"}`), Signature: "sealed"}}
	rich := []model.Chunk{
		{Kind: model.ChunkNotice, Text: "waiting"}, text("void"),
		{Kind: model.ChunkRetry, Retry: pawl.Retry{Attempt: 1, Wait: time.Second, Model: "fallback", Kind: pawl.ErrorServer, Message: "500"}},
		{Kind: model.ChunkReasoning, Text: "I "}, {Kind: model.ChunkReasoning, Text: "think.", Signature: "seal"}, text("a"), text("b"), call,
		{Kind: model.ChunkUsage, Usage: pawl.Usage{Input: 5, Output: 2, Cost: 77}}, {Kind: model.ChunkFinish, Finish: pawl.FinishToolUse},
	}
	refused := &model.ProviderError{Kind: pawl.ErrorRefused, Message: "I will not"}
	for _, test := range []struct {
		name  string
		model model.Model
		shut  error  // error of opening the model
		has   string // a kind of event that the log must contain
	}{
		{"a story", openScript(t,
			`{"reasoning":"Let me see.","text":"I look.","deltas":3,"calls":[{"name":"peek","input":{"n":1}}],"usage":{"input":9,"output":3}}`,
			`{"text":"Done.","deltas":2}`), nil, "call.finished"},
		{"all that a model can say", says(nil, rich, []model.Chunk{text("Done."), finish}), nil, "retried"},
		{"garbage", openScript(t, `{"text":"I look.","calls":[{"name":"peek","input":{"n":1}}],"fault":"garbage"}`, `{"text":"Done."}`), nil, "call.finished"},
		{"a script's error", openScript(t, `{"fault":"error","text":"bad key"}`), nil, "turn.finished"},
		{"it breaks off", openScript(t, `{"text":"I will tell you","fault":"drop"}`), nil, "turn.finished"},
		{"refused", says(refused, []model.Chunk{text("so far")}), nil, "turn.finished"},
		{"an overflow", narrow{openScript(t, talks(8, `{"text":"Done."}`, `{"agent":"compaction","text":"Sum."}`)...)}, nil, "compacted"},
		{"it cannot be opened", nil, fmt.Errorf("open model: no key: %w", pawl.ErrInvalid), "turn.finished"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			open := func(string) (model.Model, error) { return test.model, test.shut }
			window := func(string) (model.Window, error) { return model.Window{}, nil }
			gateway := serve(t, Config{Open: open, Window: window})
			here, there := newTestEnv(t, dir, open, window), newTestEnv(t, dir, gateway.Open, gateway.Window)
			for _, w := range []*testEnv{here, there} {
				if err := w.turn(); err != nil {
					t.Fatal(err)
				}
			}
			wantLog, wantSaid := here.received()
			log, said := there.received()
			if diff := cmp.Diff(wantLog, log); diff != "" {
				t.Errorf("the log (-here +there):\n%s", diff)
			}
			if diff := cmp.Diff(wantSaid, said); diff != "" {
				t.Errorf("what was heard (-here +there):\n%s", diff)
			}
			if count(log, test.has) == 0 {
				t.Errorf("no %s in it", test.has)
			}
		})
	}
}

// count returns the number of events of a kind.
func count(log []pawl.Event, kind string) int { return len(bodies(log, kind)) }

// stuck is a model whose first calls send some text and hang. Later calls are passed on.
type stuck struct {
	model.Model
	calls chan struct{} // has a value for each call that hangs
	hangs chan struct{} // receives a value when a call hangs
	ended chan error    // receives the error of a call that hung
}

func (m stuck) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	select {
	case <-m.calls:
	default:
		return m.Model.Stream(ctx, req)
	}
	return func(yield func(model.Chunk, error) bool) {
		if yield(text("I look"), nil) {
			m.hangs <- struct{}{}
			<-ctx.Done()
			m.ended <- ctx.Err()
			yield(model.Chunk{}, ctx.Err())
		}
	}
}

func newStuck(m model.Model) stuck {
	s := stuck{Model: m, calls: make(chan struct{}, 1), hangs: make(chan struct{}, 1), ended: make(chan error, 1)}
	s.calls <- struct{}{}
	return s
}

// TestGatewayDies checks that a turn stays open if the gateway dies in mid-stream or is unavailable, and that it
// continues when the gateway is back.
func TestGatewayDies(t *testing.T) {
	t.Parallel()
	m := newStuck(openScript(t, `{"text":"I look.","calls":[{"name":"peek","input":{"n":1}}]}`, `{"text":"Done."}`))
	gateway := serve(t, Config{Open: only(m)})
	w := newTestEnv(t, t.TempDir(), gateway.Open, gateway.Window)
	ended := make(chan error, 1)
	go func() { ended <- w.turn() }()
	receive(t, m.hangs, "the first word")
	if err := gateway.server.Close(); err != nil {
		t.Fatal(err)
	}
	checkOpen(t, w, receive(t, ended, "the end of the step"))
	if err := receive(t, m.ended, "the end of the model's call"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	checkOpen(t, w, w.turn()) // the gateway is down

	serveAt(t, gateway.addr, Config{Open: only(m)})
	if err := w.turn(); err != nil {
		t.Fatal(err)
	}
	log, _ := w.received()
	got := map[string]int{}
	for _, kind := range []string{"turn.started", "reply.started", "replied", "call.finished", "retried", "turn.finished"} {
		got[kind] = count(log, kind)
	}
	want := map[string]int{"turn.started": 1, "reply.started": 2, "replied": 2, "call.finished": 1, "retried": 0, "turn.finished": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// checkOpen fails unless err is an error of the connection and the turn is still open.
func checkOpen(t *testing.T, w *testEnv, err error) {
	t.Helper()
	var stop *agent.Stop
	var provider *model.ProviderError
	if !errors.Is(err, pawl.ErrUnavailable) || errors.As(err, &stop) || errors.As(err, &provider) {
		t.Errorf("got %#v: %v", err, err)
	}
	if log, _ := w.received(); count(log, "turn.finished")+count(log, "replied") != 0 {
		t.Errorf("the turn went on: %v", log)
	}
}

// TestGatewayDiesInACompaction checks that nothing is written if the gateway dies during a compaction, and that the
// compaction succeeds when the gateway is back.
func TestGatewayDiesInACompaction(t *testing.T) {
	t.Parallel()
	m := narrow{openScript(t, talks(8, `{"text":"Done."}`, `{"agent":"compaction","text":"Sum."}`)...)}
	away := true
	failing := stream(func(ctx context.Context, req model.Request, yield func(model.Chunk, error) bool) {
		if away && req.Agent == model.AgentCompaction {
			away = false
			panic(http.ErrAbortHandler) // the gateway fails
		}
		for c, err := range m.Stream(ctx, req) {
			if !yield(c, err) {
				return
			}
		}
	})
	dir := t.TempDir()
	gateway := serve(t, Config{Open: only(failing)})
	here, there := newTestEnv(t, dir, only(m), nil), newTestEnv(t, dir, gateway.Open, gateway.Window)
	if err := there.turn(); !errors.Is(err, pawl.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	if log, _ := there.received(); away || count(log, "compacted")+count(log, "turn.finished") != 0 {
		t.Error("something came of it, or it was not tried")
	}
	for _, w := range []*testEnv{here, there} {
		if err := w.turn(); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := here.received()
	got, _ := there.received()
	for _, kind := range []string{"compacted", "replied", "turn.finished"} {
		if diff := cmp.Diff(bodies(want, kind), bodies(got, kind), cmpopts.IgnoreFields(pawl.Compacted{}, "Keep")); diff != "" || count(want, kind) == 0 {
			t.Errorf("%s (-here +there):\n%s", kind, diff)
		}
	}
}

// bodies returns the bodies of a kind.
func bodies(log []pawl.Event, kind string) (list []pawl.Body) {
	for _, e := range log {
		if string(pawl.KindOf(e.Body)) == kind {
			list = append(list, e.Body)
		}
	}
	return list
}
