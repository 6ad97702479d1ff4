package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func TestSteering(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script []string
		max    int
		at     string // steered "in the tool" or "in the reply" of this many replies
		reply  int
		want   []pawl.Message // of the turn
		reason pawl.Reason
		left   int // prompts that still wait
	}{
		{
			name: "at the next step", at: "tool",
			script: []string{`{"calls":[{"name":"look"}]}`, `{"expect":"^other way$","text":"Ok."}`},
			want: []pawl.Message{
				user("go"), says(pawl.ToolCall{ID: "call_1_1", Name: "look", Input: []byte("{}")}),
				result(pawl.ToolResult{Call: "call_1_1", Content: "seen"}), user("other way"), says(pawl.Text{Text: "Ok."}),
			},
			reason: pawl.ReasonEndTurn,
		},
		{
			name: "when the model thought it was done", at: "reply",
			script: []string{`{"text":"Done."}`, `{"expect":"^other way$","text":"Ok."}`},
			want: []pawl.Message{
				user("go"), says(pawl.Text{Text: "Done."}), user("other way"), says(pawl.Text{Text: "Ok."}),
			},
			reason: pawl.ReasonEndTurn,
		},
		{
			name: "too late: it is the next turn's", at: "reply", max: 1,
			script: []string{`{"text":"Done."}`},
			want:   []pawl.Message{user("go"), user(lastStepText), says(pawl.Text{Text: "Done."})},
			reason: pawl.ReasonMaxSteps, left: 1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var w *testEnv
			look := newTool("look", pawl.AccessRead, func(context.Context, toolapi.Call) (pawl.Result, error) {
				w.prompt("other way", steer)
				return pawl.Result{Content: "seen"}, nil
			})
			w = newEnv(t, setup{tools: []toolapi.Tool{look}, script: test.script})
			if test.at == "reply" {
				w.model.begins = func(r model.Request) {
					if r.Replies == 0 {
						w.prompt("other way", steer)
					}
				}
			}
			w.prompt("go", maxSteps(test.max))
			w.mustTurn(test.reason)
			check(t, test.want, w.conversation())
			row, err := w.Store.Session(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			check(t, test.left, row.Queued)
			if test.left == 0 {
				check(t, []pawl.Body{pawl.Injected{Source: "user", Prompt: w.seqOf("other way")}}, w.bodies(pawl.Injected{}))
			}
		})
	}
}

// seqOf is the number of the prompt that says text.
func (w *testEnv) seqOf(text string) pawl.Seq {
	w.t.Helper()
	for _, e := range w.events() {
		if p, ok := e.Body.(pawl.Prompted); ok && p.Parts.Text() == text {
			return e.Seq
		}
	}
	w.t.Fatalf("no prompt says %q", text)
	return 0
}

// A prompt that steers while no turn is open begins one.
func TestSteeringNothing(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"expect":"^go$","text":"Ok."}`}})
	w.prompt("go", steer)
	w.mustTurn(pawl.ReasonEndTurn)
	check(t, []pawl.Message{user("go"), says(pawl.Text{Text: "Ok."})}, w.conversation())
}

func TestQueueing(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"1"}`, `{"text":"2"}`, `{"text":"3"}`}})
	w.prompt("one")
	w.model.begins = func(r model.Request) {
		if r.Replies == 0 {
			w.prompt("two", queue)
			w.prompt("three", queue, maxSteps(1))
		}
	}
	w.mustTurn(pawl.ReasonEndTurn)
	w.mustTurn(pawl.ReasonEndTurn)
	w.mustTurn(pawl.ReasonMaxSteps) // each prompt has settings of its own
	check(t, []pawl.Message{
		user("one"), says(pawl.Text{Text: "1"}),
		user("two"), says(pawl.Text{Text: "2"}),
		user("three"), user(lastStepText), says(pawl.Text{Text: "3"}),
	}, w.conversation())
	if _, ok, err := w.Begin(t.Context(), session); ok || err != nil {
		t.Errorf("there is more to do: %v, %v", ok, err)
	}
}

// Prompts and titles may come at any time, between any two events.
func TestPromptsInBetween(t *testing.T) {
	t.Parallel()
	var w *testEnv
	n := 0
	disturb := func() {
		if n++; n%2 == 0 {
			w.append(pawl.SessionTitled{Title: "title"})
			return
		}
		w.prompt("later", queue)
	}
	w = newEnv(t, setup{
		tools:  []toolapi.Tool{toolText("act", pawl.AccessWrite, "done")},
		script: []string{`{"calls":[{"name":"act"},{"name":"act"}]}`, `{"text":"Ok."}`},
		store:  func(st store.Store) store.Store { return &disturbed{Store: st, by: func() { disturb() }} },
	})
	w.prompt("go")
	w.Store.(*disturbed).active = true
	w.mustTurn(pawl.ReasonEndTurn)
	w.Store.(*disturbed).active = false
	check(t, []pawl.Message{
		user("go"),
		says(pawl.ToolCall{ID: "call_1_1", Name: "act", Input: []byte("{}")}, pawl.ToolCall{ID: "call_1_2", Name: "act", Input: []byte("{}")}),
		result(pawl.ToolResult{Call: "call_1_1", Content: "done"}, pawl.ToolResult{Call: "call_1_2", Content: "done"}),
		says(pawl.Text{Text: "Ok."}),
	}, w.conversation())
	if n != 10 { // the turn, two replies of two events, two calls of two, the end
		t.Errorf("%d events came in between", n)
	}
}

// disturbed lets something happen just before each append of the stepper,
// which therefore fails once.
type disturbed struct {
	store.Store
	by     func()
	active bool
	quiet  bool // the next append is let through: that of the disturber, or a second attempt
}

func (s *disturbed) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	if s.active && !s.quiet {
		s.quiet = true
		s.by()
		s.quiet = true
		return s.Store.Append(ctx, id, after, events...)
	}
	s.quiet = false
	return s.Store.Append(ctx, id, after, events...)
}

// Whoever finds another's turn events where its own should go has lost the session.
func TestLost(t *testing.T) {
	t.Parallel()
	other := []struct {
		name  string
		event pawl.Body
	}{
		{"another reply", pawl.Replied{Step: 1, Parts: pawl.Parts{pawl.Text{Text: "mine"}}, Finish: pawl.FinishEndTurn}},
		{"another end", pawl.TurnFinished{Reason: pawl.ReasonCanceled}},
		{"another injection", pawl.Injected{Source: "user", Text: "x"}},
	}
	for _, test := range other {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{`{"text":"Ok."}`}})
			w.prompt("go")
			w.model.begins = func(model.Request) { w.append(test.event) }
			if _, err := w.turn(t.Context()); !errors.Is(err, errTakenOver) {
				t.Errorf("got %v, want errTakenOver", err)
			}
			events := w.events()
			check(t, test.event, events[len(events)-1].Body, cmpopts.EquateEmpty())
		})
	}
}

// A step of a turn that is no longer open does nothing.
func TestStepOfAClosedTurn(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"Ok."}`}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	before := w.events()
	turn := Turn{Session: session, Number: 1, Prompt: 2, Step: 1}
	_, generate := w.Generate(t.Context(), turn)
	_, authorize := w.Authorize(t.Context(), turn, nil)
	_, settle := w.Settle(t.Context(), turn)
	for name, err := range map[string]error{
		"prepare": w.Prepare(t.Context(), turn), "generate": generate, "authorize": authorize,
		"execute": w.Execute(t.Context(), turn, nil), "settle": settle,
	} {
		if !errors.Is(err, errTakenOver) {
			t.Errorf("%s: got %v, want errTakenOver", name, err)
		}
	}
	if err := w.Finish(t.Context(), turn, Stop{Reason: pawl.ReasonError}); err != nil {
		t.Errorf("finish: %v", err)
	}
	check(t, before, w.events())
}
