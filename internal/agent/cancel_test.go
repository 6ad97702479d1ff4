package agent

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestContract_R7_CancelInMidStream checks that of an interrupted reply only the text is kept: incomplete reasoning
// and calls that will not run must not be sent to a provider again.
func TestContract_R7_CancelInMidStream(t *testing.T) {
	t.Parallel()
	chunk := func(k model.ChunkKind, text string) model.Chunk { return model.Chunk{Kind: k, Text: text} }
	call := model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: "c", Name: "bash", Input: []byte(`{"command":"true"}`)}}
	tests := []struct {
		name   string
		stream []model.Chunk
		kept   pawl.Parts
	}{
		{"nothing had come", nil, nil},
		{"text", []model.Chunk{chunk(model.ChunkText, "I beg"), chunk(model.ChunkText, "in")}, pawl.Parts{pawl.Text{Text: "I begin"}}},
		{"a thought", []model.Chunk{chunk(model.ChunkReasoning, "hm")}, nil},
		{
			"a thought, text, a call",
			[]model.Chunk{chunk(model.ChunkReasoning, "hm"), chunk(model.ChunkText, "I will."), call},
			pawl.Parts{pawl.Text{Text: "I will."}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			w := newEnv(t, setup{model: hangs{test.stream, cancel}})
			w.prompt("go")
			stop, err := w.turn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			check(t, Stop{Reason: pawl.ReasonCanceled}, stop)
			check(t, []pawl.Body{
				pawl.Replied{Step: 1, Model: modelRef, Agent: Default, Parts: test.kept, Finish: pawl.FinishCanceled},
				pawl.TurnFinished{Reason: pawl.ReasonCanceled, Steps: 1},
			}, w.bodies(pawl.Replied{}, pawl.CallStarted{}, pawl.CallFinished{}, pawl.TurnFinished{}), equateParts)
			want := []pawl.Message{user("go")}
			if len(test.kept) > 0 {
				want = append(want, says(test.kept...))
			}
			check(t, want, w.conversation())
		})
	}
}

// hangs is a model that yields its chunks, calls then, and waits for the end of ctx.
type hangs struct {
	stream []model.Chunk
	then   func()
}

func (m hangs) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range m.stream {
			if !yield(c, nil) {
				return
			}
		}
		m.then()
		<-ctx.Done()
		yield(model.Chunk{}, ctx.Err())
	}
}

// The real scripted model, hanging.
func TestCancelAHangingScript(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"fault":"hang","text":"half of it"}`}})
	ctx, cancel := context.WithCancel(t.Context())
	w.model.taken = func(model.Chunk) { cancel() }
	w.prompt("go")
	stop, err := w.turn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	check(t, Stop{Reason: pawl.ReasonCanceled}, stop)
	check(t, []pawl.Message{user("go"), says(pawl.Text{Text: "half "})}, w.conversation())
}

// The calls that run are stopped, the others never begin; each has one result.
func TestCancelInMidTool(t *testing.T) {
	t.Parallel()
	tests := []struct {
		calls string
		runs  int
	}{
		{"wrw", 1}, {"rrwr", 2},
	}
	for _, test := range tests {
		t.Run(test.calls, func(t *testing.T) {
			h := newHall()
			w := newEnv(t, setup{
				tools:  []toolapi.Tool{h.tool("r", pawl.AccessRead), h.tool("w", pawl.AccessWrite)},
				script: []string{callLine(test.calls)},
			})
			w.prompt("go")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				h.entering(t, test.runs)
				cancel()
			}()
			stop, err := w.turn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			check(t, Stop{Reason: pawl.ReasonCanceled}, stop)
			w.checkCalls()
			conversation := w.conversation()
			var want pawl.Parts
			for i, c := range conversation[1].Parts.Calls() {
				content := "half " + string(c.ID) + "\n(canceled)"
				if i >= test.runs {
					content = "not run: canceled"
				}
				want = append(want, pawl.ToolResult{Call: c.ID, Content: content, IsError: true})
			}
			check(t, result(want...), conversation[2])
			for _, f := range w.results() {
				check(t, pawl.CallCanceled, f.Status)
			}
		})
	}
}

// A call that ends well in spite of the cancel has its own result.
func TestCancelThatComesTooLate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	act := newTool("act", pawl.AccessWrite, func(context.Context, toolapi.Call) (pawl.Result, error) {
		cancel()
		return pawl.Result{Content: "done"}, nil
	})
	w := newEnv(t, setup{tools: []toolapi.Tool{act}, script: []string{`{"calls":[{"name":"act"},{"name":"act"}]}`}})
	w.prompt("go")
	stop, err := w.turn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	check(t, Stop{Reason: pawl.ReasonCanceled}, stop)
	check(t, []pawl.CallFinished{
		{Call: "call_1_1", Status: pawl.CallDone, Result: pawl.Result{Content: "done"}},
		{Call: "call_1_2", Status: pawl.CallCanceled, Result: toolapi.ErrorResult("not run: canceled")},
	}, w.results())
}

// When the work is taken away (the process ends, the lease is lost) nothing is
// decided: the turn stays open, and resuming it is like resuming after a crash.
func TestWorkIsTakenAway(t *testing.T) {
	t.Parallel()
	why := errors.New("the process is shutting down")
	tests := []struct {
		name   string
		script []string
		want   []pawl.Message // once it was resumed
	}{
		{
			"in mid-stream", []string{`{"text":"All of it."}`},
			[]pawl.Message{user("go"), says(pawl.Text{Text: "All of it."})},
		},
		{
			"in a call that reads", []string{`{"calls":[{"name":"r"}]}`, `{"text":"Ok."}`},
			[]pawl.Message{
				user("go"), says(pawl.ToolCall{ID: "call_1_1", Name: "r", Input: []byte("{}")}),
				result(pawl.ToolResult{Call: "call_1_1", Content: "done call_1_1"}), says(pawl.Text{Text: "Ok."}),
			},
		},
		{
			"in a call that writes", []string{`{"calls":[{"name":"w"}]}`, `{"text":"Ok."}`},
			[]pawl.Message{
				user("go"), says(pawl.ToolCall{ID: "call_1_1", Name: "w", Input: []byte("{}")}),
				result(pawl.ToolResult{Call: "call_1_1", Content: unknownResult("").Result.Content, IsError: true}), says(pawl.Text{Text: "Ok."}),
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHall()
			w := newEnv(t, setup{
				tools:  []toolapi.Tool{h.tool("r", pawl.AccessRead), h.tool("w", pawl.AccessWrite)},
				script: test.script,
			})
			w.prompt("go")
			ctx, end := context.WithCancelCause(t.Context())
			if test.name == "in mid-stream" {
				w.model.taken = func(model.Chunk) { end(why) }
			} else {
				go func() {
					h.entering(t, 1)
					end(why)
				}()
			}
			if _, err := w.turn(ctx); !errors.Is(err, why) {
				t.Fatalf("got %v, want the cause", err)
			}
			row, err := w.Store.Session(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			check(t, pawl.StateRunning, row.State())
			check(t, nil, w.bodies(pawl.CallFinished{}, pawl.TurnFinished{}))

			close(h.release("call_1_1"))
			w.model.taken = nil
			w.mustTurn(pawl.ReasonEndTurn)
			check(t, test.want, w.conversation())
			w.checkCalls()
		})
	}
}

// A cancel that pawl did not live to write down is found in the reply.
func TestContract_R6_ACanceledReplyStaysCanceled(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"x"}`, `{"text":"went on"}`}})
	w.prompt("go")
	w.append(pawl.TurnStarted{Prompt: 2})
	w.append(pawl.ReplyStarted{Step: 1, Model: modelRef}, pawl.Replied{Step: 1, Finish: pawl.FinishCanceled})
	w.prompt("steer", steer)
	w.mustTurn(pawl.ReasonCanceled)
	if n := len(w.model.requests); n != 0 {
		t.Errorf("the model was asked %d times after the cancel", n)
	}
}
