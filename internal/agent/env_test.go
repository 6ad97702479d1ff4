package agent

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	// Starts the keeper of this process's commands, which lives as long as the process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const session pawl.SessionID = "01JD0000000000000000000000"

const modelRef = "script:demo.jsonl"

var noon = time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC)

// testEnv is a session with real things around it: store, bus, tools, scripted model.
type testEnv struct {
	*Stepper
	t     *testing.T
	bus   *bus.Bus
	model *recorder
	dir   string
}

// setup says what a testEnv is made of. The zero value has pawl's own tools.
type setup struct {
	script []string
	model  model.Model // instead of a script: what no script can say
	tools  []toolapi.Tool
	store  func(store.Store) store.Store // put around the store
	clock  func() time.Time
	parent pawl.SessionID // of which the session is a subagent
}

func newEnv(t *testing.T, s setup) *testEnv {
	t.Helper()
	disk := sqlitetest.Open(t)
	var st store.Store = disk
	if s.store != nil {
		st = s.store(st)
	}
	if s.clock == nil {
		s.clock = func() time.Time { return noon }
	}
	if s.model == nil {
		s.model = openScript(t, s.script...)
	}
	registry, err := tool.NewRegistry(s.tools...)
	if s.tools == nil {
		registry, err = tool.Builtin(tool.Config{Blobs: st, Jobs: tool.NewJobs(st, tool.Unsandboxed{})})
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &testEnv{t: t, bus: bus.New(st, bus.Config{}), model: &recorder{Model: s.model}, dir: t.TempDir()}
	w.Stepper = NewStepper(Config{
		Store: st, Bus: w.bus, Tools: registry, Authority: harness.NewAuthority(t), Clock: s.clock,
		Model: func(string) (model.Model, error) { return w.model, nil },
	})
	w.append(pawl.SessionCreated{Dir: w.dir, Parent: s.parent})
	return w
}

func openScript(t *testing.T, lines ...string) model.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := script.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// append is another writer's append: a person's prompt, or another process.
func (w *testEnv) append(bodies ...pawl.Body) pawl.Seq {
	w.t.Helper()
	var head pawl.Seq
	turn := 0
	if row, err := w.Store.Session(context.Background(), session); err == nil {
		head, turn = row.Head, row.Turns
	}
	var events []pawl.Event
	for _, b := range bodies {
		e := pawl.Event{At: noon, Body: b}
		switch b.(type) {
		case pawl.SessionCreated, pawl.SessionTitled, pawl.Prompted:
		default:
			e.Turn = turn
		}
		events = append(events, e)
	}
	stored, err := w.bus.Append(context.Background(), session, head, events...)
	if err != nil {
		w.t.Error(err)
		return 0
	}
	return stored[len(stored)-1].Seq
}

// prompt accepts a prompt.
func (w *testEnv) prompt(text string, change ...func(*pawl.Prompted)) pawl.Seq {
	w.t.Helper()
	p := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}}, Settings: pawl.Settings{Model: modelRef}}
	for _, c := range change {
		c(&p)
	}
	return w.append(p)
}

func steer(p *pawl.Prompted) { p.Delivery = pawl.DeliverSteer }
func queue(p *pawl.Prompted) { p.Delivery = pawl.DeliverQueue }
func maxSteps(n int) func(*pawl.Prompted) {
	return func(p *pawl.Prompted) { p.MaxSteps = n }
}

// turn works on the next turn and writes its end, as a runner does.
func (w *testEnv) turn(ctx context.Context) (Stop, error) {
	w.t.Helper()
	t, ok, err := w.Begin(ctx, session)
	if err != nil || !ok {
		return Stop{}, errors.Join(err, fmt.Errorf("nothing to do"))
	}
	reason, err := Run(ctx, w.Stepper, t)
	stop, err := StopOf(reason, err)
	switch {
	case err == nil:
	case lostSession(ctx) != nil:
		return Stop{}, lostSession(ctx)
	case ctx.Err() != nil:
		stop = Stop{Reason: pawl.ReasonCanceled}
	default:
		return Stop{}, err
	}
	return stop, w.Finish(context.WithoutCancel(ctx), t, stop)
}

// mustTurn works on the next turn and fails the test unless it ends with this reason.
func (w *testEnv) mustTurn(want pawl.Reason) Stop {
	w.t.Helper()
	stop, err := w.turn(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if stop.Reason != want {
		w.t.Fatalf("the turn ended with %q (%s), want %q", stop.Reason, stop.Message, want)
	}
	return stop
}

func (w *testEnv) events() []pawl.Event {
	w.t.Helper()
	var events []pawl.Event
	for e, err := range w.Store.Events(context.Background(), session, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// conversation is the log's fold, without the numbers.
func (w *testEnv) conversation() []pawl.Message {
	w.t.Helper()
	messages, err := pawl.Conversation(w.events())
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range messages {
		messages[i].Seq = 0
	}
	return messages
}

// bodies are those of the log that have one of the types of like.
func (w *testEnv) bodies(like ...pawl.Body) []pawl.Body {
	w.t.Helper()
	var bodies []pawl.Body
	for _, e := range w.events() {
		if slices.ContainsFunc(like, func(b pawl.Body) bool { return pawl.KindOf(b) == pawl.KindOf(e.Body) }) {
			bodies = append(bodies, e.Body)
		}
	}
	return bodies
}

// results are the calls' ends, in the log's order.
func (w *testEnv) results() []pawl.CallFinished {
	w.t.Helper()
	var results []pawl.CallFinished
	for _, b := range w.bodies(pawl.CallFinished{}) {
		results = append(results, b.(pawl.CallFinished))
	}
	return results
}

func check[T any](t *testing.T, want, got T, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("want -, got +: %s", diff)
	}
}

func user(text string) pawl.Message { return message(pawl.RoleUser, pawl.Text{Text: text}) }
func says(parts ...pawl.Part) pawl.Message {
	return message(pawl.RoleAssistant, parts...)
}
func result(parts ...pawl.Part) pawl.Message { return message(pawl.RoleTool, parts...) }
func message(role pawl.Role, parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: role, Parts: parts}
}

// recorder is a model, with a look at what it is asked and at what it says.
type recorder struct {
	model.Model
	begins func(model.Request) // before the stream is read
	taken  func(model.Chunk)   // after a chunk was taken in

	mu       sync.Mutex
	requests []model.Request
}

func (r *recorder) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	kept := req
	kept.Messages = slices.Clone(req.Messages)
	r.mu.Lock()
	r.requests = append(r.requests, kept)
	r.mu.Unlock()
	return func(yield func(model.Chunk, error) bool) {
		if r.begins != nil {
			r.begins(req)
		}
		for c, err := range r.Model.Stream(ctx, req) {
			if !yield(c, err) {
				return
			}
			if r.taken != nil {
				r.taken(c)
			}
		}
	}
}

// chunks is a model that says what no script can; chunks[i] is its i-th reply.
type chunks [][]model.Chunk

func (m chunks) Stream(_ context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range m[req.Replies] {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// newTool is a tool that touches what kind says and does what run does.
func newTool(name string, kind pawl.AccessKind, run func(context.Context, toolapi.Call) (pawl.Result, error)) toolapi.Tool {
	return toolapi.Tool{
		Spec: toolapi.Spec{Name: name, Description: name, Schema: json.RawMessage(`{"type":"object"}`)},
		Access: func(_ context.Context, c toolapi.Call) ([]pawl.Access, error) {
			return []pawl.Access{{Kind: kind, Target: string(c.ID)}}, nil
		},
		Run: run,
	}
}

// toolText is a tool that always says the same.
func toolText(name string, kind pawl.AccessKind, text string) toolapi.Tool {
	return newTool(name, kind, func(context.Context, toolapi.Call) (pawl.Result, error) { return pawl.Result{Content: text}, nil })
}

// receive waits for a value.
func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("never came: %s", what)
		panic("unreachable")
	}
}
