package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// story is a conversation with some of everything: reasoning, text, calls that read, change, run and are
// invalid, a steering prompt in mid-turn, a queued one, and a step limit.
var story = []string{
	`{"reasoning":"I look first.","text":"Looking.","deltas":3,"calls":[
		{"name":"read","input":{"path":"a.txt"}},
		{"name":"write","input":{"path":"b.txt","content":"two\n"}},
		{"name":"bash","input":{"command":"cat a.txt b.txt; exit 3"}},
		{"name":"dance"},{"name":"read","input":{"file":"a.txt"}}],"usage":{"input":10,"output":5}}`,
	`{"expect":"hurry","text":"Faster then.","usage":{"input":20,"output":6}}`,
	`{"expect":"count","calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`,
	`{"expect":"last step","text":"One.","usage":{"input":7,"output":1}}`,
}

func runStory(t *testing.T) *testEnv {
	t.Helper()
	w := newTestEnv(t)
	ok(t, os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("one\n"), 0o600))
	w.after = func(stored []pawl.Event) {
		for _, e := range stored {
			if f, ok := e.Body.(pawl.CallFinished); ok && f.Call == "call_1_3" {
				w.send("hurry", pawl.DeliverSteer, pawl.Settings{})
			}
		}
	}
	return w
}

func TestSameLogAsLocal(t *testing.T) {
	t.Parallel()
	lines := make([]string, len(story))
	for i, l := range story {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	settings := script(t, lines...)
	limited := settings
	limited.MaxSteps = 2
	onLocal, onFleet := runStory(t), runStory(t)
	for _, w := range []*testEnv{onLocal, onFleet} {
		w.send("go", pawl.DeliverNow, settings)
		w.send("count", pawl.DeliverQueue, limited)
	}
	onLocal.runLocal()
	ok(t, onFleet.runFleet(nil))
	compareLogs(t, onLocal, onFleet)

	want := []pawl.Kind{
		"session.created", "prompted", "prompted",
		"turn.started", "reply.started", "replied",
		"call.finished", "call.finished", // the two invalid calls are rejected first
		"call.started", "call.finished", "call.started", "call.finished", "call.started", "call.finished", "prompted",
		"injected", "reply.started", "replied", "turn.finished",
		"turn.started", "reply.started", "replied", "call.started", "call.finished",
		"injected", "reply.started", "replied", "turn.finished",
	}
	var got []pawl.Kind
	for _, e := range onFleet.log() {
		got = append(got, pawl.KindOf(e.Body))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (- want, + got):\n%s", diff)
	}
	checkEnd(t, onFleet, pawl.TurnFinished{Reason: pawl.ReasonMaxSteps, Steps: 2, Usage: pawl.Usage{Input: 7, Output: 1}})
}

func TestModelFails(t *testing.T) {
	t.Parallel()
	settings := script(t, `{"calls":[{"name":"bash","input":{"command":"true"}}]}`, `{"fault":"error","text":"no credit"}`)
	onLocal, onFleet := newTestEnv(t), newTestEnv(t)
	for _, w := range []*testEnv{onLocal, onFleet} {
		w.send("go", pawl.DeliverNow, settings)
	}
	onLocal.runLocal()
	ok(t, onFleet.runFleet(nil))
	compareLogs(t, onLocal, onFleet)
	checkEnd(t, onFleet, pawl.TurnFinished{
		Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "script: error: no credit", Steps: 1,
	})
}

// altered is a stepper whose long steps a test can change.
type altered struct {
	*agent.Stepper
	generate func(context.Context, agent.Turn) (agent.Reply, error)
	execute  func(context.Context, agent.Turn, []pawl.CallID) error
}

func (a altered) Generate(ctx context.Context, t agent.Turn) (agent.Reply, error) {
	if a.generate == nil {
		return a.Stepper.Generate(ctx, t)
	}
	return a.generate(ctx, t)
}

func (a altered) Execute(ctx context.Context, t agent.Turn, ids []pawl.CallID) error {
	if a.execute == nil {
		return a.Stepper.Execute(ctx, t, ids)
	}
	return a.execute(ctx, t, ids)
}

// TestCancel cancels while the model hangs: the partial reply is kept, and queued prompts end too.
func TestCancel(t *testing.T) {
	t.Parallel()
	settings := script(t, `{"text":"I am thinking hard","deltas":4,"fault":"hang"}`)
	onLocal, onFleet := newTestEnv(t), newTestEnv(t)
	for _, w := range []*testEnv{onLocal, onFleet} {
		w.send("go", pawl.DeliverNow, settings)
		w.send("and then", pawl.DeliverQueue, settings)
	}
	hang := onLocal.hangs()
	onLocal.runLocal(func(r *local.Runner) {
		<-hang
		ok(t, r.Cancel(t.Context(), onLocal.id, 3))
	})
	hang = onFleet.hangs()
	ok(t, onFleet.runFleet(nil, func(env *testsuite.TestWorkflowEnvironment) {
		go func() {
			<-hang
			env.SignalWorkflow(signalCancel, pawl.Seq(3))
		}()
	}))
	compareLogs(t, onLocal, onFleet)
	checkEnd(t, onFleet, pawl.TurnFinished{Reason: pawl.ReasonCanceled})
}

// hangs returns a channel that is closed when half of the text has arrived; no more follows.
func (w *testEnv) hangs() <-chan struct{} {
	hang := make(chan struct{})
	w.published = func(e pawl.Event) {
		if d, ok := e.Body.(pawl.Delta); ok && d.Offset+len(d.Text) == len("I am thin") {
			close(hang)
		}
	}
	return hang
}

var errOnce = errors.New("the connection was reset")

// TestRetryAfterEffect: the first attempt at Execute fails after all was done and written.
func TestRetryAfterEffect(t *testing.T) {
	t.Parallel()
	settings := script(t, `{"calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`, `{"text":"done"}`)
	onLocal, onFleet := newTestEnv(t), newTestEnv(t)
	for _, w := range []*testEnv{onLocal, onFleet} {
		w.send("go", pawl.DeliverNow, settings)
	}
	onLocal.runLocal()
	attempts := 0
	err := onFleet.runFleet(func(s *agent.Stepper) Stepper {
		return altered{Stepper: s, execute: func(ctx context.Context, turn agent.Turn, ids []pawl.CallID) error {
			attempts++
			err := s.Execute(ctx, turn, ids)
			if attempts == 1 {
				err = errOnce
			}
			return err
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if attempts != 2 {
		t.Errorf("%d attempts, want 2", attempts)
	}
	checkCount(t, onFleet)
	compareLogs(t, onLocal, onFleet)
}

func checkCount(t *testing.T, w *testEnv) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "count"))
	if err != nil || string(data) != "x\n" {
		t.Errorf("count is %q, %v; the effect must happen once", data, err)
	}
}

// TestRetryInMidCall: the effect took place and its result was not written. It
// must not take place again, and the model must learn that.
func TestRetryInMidCall(t *testing.T) {
	t.Parallel()
	settings := script(t, `{"calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`, `{"expect":"unknown","text":"done"}`)
	w := newTestEnv(t)
	w.send("go", pawl.DeliverNow, settings)
	failed := false
	w.before = func(events []pawl.Event) error {
		if _, ok := events[0].Body.(pawl.CallFinished); ok && !failed {
			failed = true
			return errOnce
		}
		return nil
	}
	ok(t, w.runFleet(nil))
	checkCount(t, w)
	checkEnd(t, w, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2})
	checkStatus(t, w, pawl.CallUnknown)
}

func checkStatus(t *testing.T, w *testEnv, want pawl.CallStatus) {
	t.Helper()
	for _, e := range w.log() {
		if f, ok := e.Body.(pawl.CallFinished); ok && f.Status != want {
			t.Errorf("the call is %s, want %s", f.Status, want)
		}
	}
}

// TestOldAttemptStillAtWork: Temporal gave up the first attempt while its tool still ran in this process. What
// it appends later must conflict with the second attempt, not follow it.
func TestOldAttemptStillAtWork(t *testing.T) {
	t.Parallel()
	settings := script(t, `{"calls":[{"name":"slow"}]}`, `{"expect":"unknown","text":"done"}`)
	begun, goOn := make(chan struct{}), make(chan struct{})
	w := newTestEnv(t, toolapi.Tool{
		Spec: toolapi.Spec{Name: "slow"},
		Access: func(context.Context, toolapi.Call) ([]pawl.Access, error) {
			return []pawl.Access{{Kind: pawl.AccessExec, Target: "slow"}}, nil
		},
		Run: func(context.Context, toolapi.Call) (pawl.Result, error) {
			close(begun) // a second run panics, and the panic is in the result
			<-goOn
			return pawl.Result{Content: "late"}, nil
		},
	})
	w.send("go", pawl.DeliverNow, settings)
	var old sync.WaitGroup
	var oldErr error
	first := true
	err := w.runFleet(func(s *agent.Stepper) Stepper {
		return altered{Stepper: s, execute: func(ctx context.Context, turn agent.Turn, ids []pawl.CallID) error {
			if !first {
				err := s.Execute(ctx, turn, ids)
				close(goOn)
				old.Wait()
				return err
			}
			first = false
			old.Go(func() { oldErr = s.Execute(context.WithoutCancel(ctx), turn, ids) })
			<-begun
			return errOnce
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if oldErr == nil {
		t.Error("the old attempt has not noticed that it is the old one")
	}
	checkEnd(t, w, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2})
	checkStatus(t, w, pawl.CallUnknown)
}

// TestGivesUp: a lasting fault ends the workflow but not the turn, which the next workflow continues.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	settings := script(t, `{"calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`, `{"text":"done"}`)
	w := newTestEnv(t)
	w.send("go", pawl.DeliverNow, settings)
	attempts := 0
	err := w.runFleet(func(s *agent.Stepper) Stepper {
		return altered{Stepper: s, generate: func(ctx context.Context, turn agent.Turn) (agent.Reply, error) {
			if turn.Step == 1 {
				return s.Generate(ctx, turn)
			}
			attempts++
			return agent.Reply{}, errOnce
		}}
	})
	if err == nil || !strings.Contains(err.Error(), errOnce.Error()) {
		t.Errorf("the workflow's error is %v, want %v", err, errOnce)
	}
	if attempts < 2 {
		t.Errorf("%d attempts", attempts)
	}
	if row, err := w.Get(t.Context(), w.id); err != nil || !row.TurnOpen {
		t.Errorf("the turn is not open any more: %v, %v", row, err)
	}
	ok(t, w.runFleet(nil))
	checkCount(t, w)
	checkEnd(t, w, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2})
}
