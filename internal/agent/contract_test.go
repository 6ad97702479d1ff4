package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func TestContract_R2_RequestIsHistorySystemAndTools(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"one"}`, `{"text":"two"}`}})
	file := pawl.File{Name: "a.png", MediaType: "image/png", Data: []byte{1, 2}}
	w.prompt("first", func(p *pawl.Prompted) { p.Parts = append(p.Parts, file) })
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("second", func(p *pawl.Prompted) { p.Effort = "high" })
	w.mustTurn(pawl.ReasonEndTurn)

	first := message(pawl.RoleUser, pawl.Text{Text: "first"}, file)
	check(t, []pawl.Message{first, says(pawl.Text{Text: "one"}), user("second"), says(pawl.Text{Text: "two"})}, w.conversation())
	want := model.Request{
		Session: session, Agent: "build", Replies: 1, Effort: "high", System: SystemPrompt(builtin[Default], PromptContext{Model: modelRef}),
		Tools:    w.Tools.Only(func(name string) bool { return name != "plan_exit" }).Specs(),
		Messages: []pawl.Message{first, says(pawl.Text{Text: "one"}), user("second")},
	}
	check(t, want, w.model.requests[1], cmpopts.IgnoreFields(pawl.Message{}, "Seq"))
}

func TestContract_R3_ReplyIsAnnouncedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"hello"}`}})
	w.prompt("hi")
	w.model.begins = func(model.Request) {
		events := w.events()
		check[pawl.Body](t, pawl.ReplyStarted{Step: 1, Model: modelRef}, events[len(events)-1].Body)
	}
	w.mustTurn(pawl.ReasonEndTurn)
	if len(w.model.requests) != 1 {
		t.Error("the model was not asked")
	}
}

func TestContract_R4_ResultsGoBackToTheModel(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{
		`{"text":"I write.","calls":[{"name":"write","input":{"path":"a.txt","content":"hello\n"}},{"name":"bash","input":{"command":"cat a.txt"}}]}`,
		`{"expect":"\\+hello\n[^$]*hello\n","calls":[{"name":"read","input":{"path":"a.txt"}}]}`,
		`{"expect":"1\thello","text":"Done."}`,
	}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)

	if data, err := os.ReadFile(filepath.Join(w.dir, "a.txt")); err != nil || string(data) != "hello\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	diff := "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hello\n"
	want := []pawl.Message{
		user("go"),
		says(
			pawl.Text{Text: "I write."},
			pawl.ToolCall{ID: "call_1_1", Name: "write", Input: []byte(`{"path":"a.txt","content":"hello\n"}`)},
			pawl.ToolCall{ID: "call_1_2", Name: "bash", Input: []byte(`{"command":"cat a.txt"}`)},
		),
		result(pawl.ToolResult{Call: "call_1_1", Content: diff}, pawl.ToolResult{Call: "call_1_2", Content: "hello\n"}),
		says(pawl.ToolCall{ID: "call_2_1", Name: "read", Input: []byte(`{"path":"a.txt"}`)}),
		result(pawl.ToolResult{Call: "call_2_1", Content: "     1\thello\n"}),
		says(pawl.Text{Text: "Done."}),
	}
	check(t, want, w.conversation())
	check(t, want[:5], w.model.requests[2].Messages, cmpopts.IgnoreFields(pawl.Message{}, "Seq"))

	shell := w.results()[1]
	check(t, "0", shell.Result.Meta["exit_code"])
}

// Whatever is wrong with a call, the model learns that and the loop goes on.
func TestContract_R7_FailingCalls(t *testing.T) {
	t.Parallel()
	tools := []toolapi.Tool{
		toolText("works", pawl.AccessRead, "fine"),
		newTool("fails", pawl.AccessWrite, func(context.Context, toolapi.Call) (pawl.Result, error) {
			return pawl.Result{Content: "half"}, errors.New("the disk is full")
		}),
		newTool("panics", pawl.AccessRead, func(context.Context, toolapi.Call) (pawl.Result, error) { panic("oh no") }),
		{
			Spec:   toolapi.Spec{Name: "panics-early"},
			Access: func(context.Context, toolapi.Call) ([]pawl.Access, error) { panic("oh no") },
		},
		{
			Spec: toolapi.Spec{Name: "refuses"},
			Access: func(context.Context, toolapi.Call) ([]pawl.Access, error) {
				return nil, errors.New(`the field "x" is missing`)
			},
		},
	}
	tests := []struct {
		call   string
		status pawl.CallStatus
		says   string
	}{
		{"missing", pawl.CallRefused, `there is no tool "missing"; there are: works, fails, panics, panics-early, refuses`},
		{"refuses", pawl.CallRefused, `the field "x" is missing`},
		{"fails", pawl.CallDone, "the disk is full"},
		{"panics", pawl.CallDone, "tool panics panicked: oh no\n"},
		{"panics-early", pawl.CallRefused, "tool panics-early panicked: oh no\n"},
	}
	for _, test := range tests {
		t.Run(test.call, func(t *testing.T) {
			w := newEnv(t, setup{tools: tools, script: []string{
				`{"calls":[{"name":"` + test.call + `"},{"name":"works"}]}`, `{"text":"I see."}`,
			}})
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			for _, f := range w.results() {
				want := pawl.CallFinished{Call: "call_1_2", Status: pawl.CallDone, Result: pawl.Result{Content: "fine"}}
				if f.Call == "call_1_1" {
					if !strings.HasPrefix(f.Result.Content, test.says) {
						t.Errorf("the model reads %q, want %q", f.Result.Content, test.says)
					}
					want = pawl.CallFinished{Call: "call_1_1", Status: test.status, Result: toolapi.ErrorResult(f.Result.Content)}
				}
				check(t, want, f)
			}
			if n := len(w.results()); n != 2 {
				t.Errorf("%d results", n)
			}
		})
	}
}

func TestContract_R7_ProviderErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		says       string
	}{
		{"error", `{"fault":"error","text":"no credit"}`, "no credit"},
		{"overloaded", `{"fault":"overloaded"}`, "overloaded"},
		{"the stream breaks off", `{"fault":"drop","text":"half of it"}`, "the model's reply was cut off"},
		{"nothing comes", `{}`, "the model's reply is empty"},
		{"the script does not fit", `{"expect":"other","text":"x"}`, "misfit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t, setup{script: []string{test.line}})
			w.prompt("go")
			stop := w.mustTurn(pawl.ReasonError)
			if stop.Fault != pawl.FaultModel || !strings.Contains(stop.Message, test.says) {
				t.Errorf("it ended with %+v, which does not say %q", stop, test.says)
			}
			check(t, []pawl.Body{
				pawl.ReplyStarted{Step: 1, Model: modelRef},
				pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: stop.Message},
			}, w.bodies(pawl.ReplyStarted{}, pawl.Replied{}, pawl.TurnFinished{}))
			check(t, []pawl.Message{user("go")}, w.conversation())
		})
	}
}

// Input that is not JSON is kept, and the model learns that.
func TestContract_R7_Garbage(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{
		`{"fault":"garbage","calls":[{"name":"read"}]}`, `{"expect":"wrong input for read: it is not a JSON object","text":"I see."}`,
	}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	want := says(pawl.ToolCall{ID: "call_1_1", Name: "read", Input: []byte(`"{\"path\": "`)})
	check(t, want, w.conversation()[1])
}

func TestContract_R8_UsageIsSummedOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{tools: []toolapi.Tool{toolText("look", pawl.AccessRead, "x")}, script: []string{
		`{"calls":[{"name":"look"}],"usage":{"input":100,"output":10,"cache_read":5,"cost":1000}}`,
		`{"calls":[{"name":"look"}],"usage":{"input":200,"output":20,"reasoning":7,"cost":2000}}`,
		`{"text":"done","usage":{"input":300,"output":30,"cache_write":9,"cost":3000}}`,
		`{"text":"again","usage":{"input":1,"output":1,"cost":1}}`,
	}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)
	first := pawl.Usage{Input: 600, Output: 60, Reasoning: 7, CacheRead: 5, CacheWrite: 9, Cost: 6000}
	w.prompt("again")
	w.mustTurn(pawl.ReasonEndTurn)
	second := pawl.Usage{Input: 1, Output: 1, Cost: 1}

	check(t, []pawl.Body{
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 3, Usage: first},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1, Usage: second},
	}, w.bodies(pawl.TurnFinished{}))
	row, err := w.Store.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	check(t, first.Add(second), row.Usage)
}

// The ids that an audit needs reach the tool.
func TestContract_R8_ToolsKnowTheirIds(t *testing.T) {
	t.Parallel()
	var got toolapi.Call
	spy := newTool("spy", pawl.AccessRead, func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
		got = c
		return pawl.Result{}, nil
	})
	w := newEnv(t, setup{tools: []toolapi.Tool{spy}, script: []string{`{"text":"x"}`, `{"calls":[{"name":"spy","input":{"a":1}}]}`, `{"text":"x"}`}})
	w.prompt("one")
	w.mustTurn(pawl.ReasonEndTurn)
	w.prompt("two")
	w.mustTurn(pawl.ReasonEndTurn)
	want := toolapi.Call{Session: session, Turn: 2, ID: "call_2_1", Input: []byte(`{"a":1}`), Dir: w.dir, Mode: "yolo", Sandboxed: true}
	check(t, want, got, cmpopts.IgnoreFields(toolapi.Call{}, "Progress", "Notice", "Caller", "Reads"))
}

func TestContract_R9_LastStep(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, last string
		results    []pawl.ToolResult // of the last step
	}{
		{"the model wraps up", `{"text":"That is all."}`, nil},
		{
			"the model calls a tool all the same", `{"calls":[{"name":"look"}]}`,
			[]pawl.ToolResult{{Call: "call_3_1", Content: "not run: this was the last permitted step, and no tools were offered", IsError: true}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t, setup{tools: []toolapi.Tool{toolText("look", pawl.AccessRead, "x")}, script: []string{
				`{"calls":[{"name":"look"}]}`, `{"calls":[{"name":"look"}]}`, test.last,
			}})
			w.prompt("go", maxSteps(3))
			w.mustTurn(pawl.ReasonMaxSteps)

			for i, offered := range []int{1, 1, 0} {
				if n := len(w.model.requests[i].Tools); n != offered {
					t.Errorf("step %d: %d tools were offered, want %d", i+1, n, offered)
				}
			}
			check(t, []pawl.Body{pawl.Injected{Source: "max_steps", Text: lastStepText}}, w.bodies(pawl.Injected{}))
			messages := w.model.requests[2].Messages
			check(t, user(lastStepText), messages[len(messages)-1], cmpopts.IgnoreFields(pawl.Message{}, "Seq"))
			var results []pawl.ToolResult
			for _, f := range w.results()[2:] {
				check(t, pawl.CallRefused, f.Status)
				results = append(results, pawl.ToolResult{Call: f.Call, Content: f.Result.Content, IsError: f.Result.IsError})
			}
			check(t, test.results, results)
			check(t, []pawl.Body{pawl.TurnFinished{Reason: pawl.ReasonMaxSteps, Steps: 3}}, w.bodies(pawl.TurnFinished{}))
		})
	}
}

// A reply that was cut off may hold half a call: it is not run.
func TestCutOffCallsAreRefused(t *testing.T) {
	t.Parallel()
	ran := false
	act := newTool("act", pawl.AccessWrite, func(context.Context, toolapi.Call) (pawl.Result, error) {
		ran = true
		return pawl.Result{}, nil
	})
	w := newEnv(t, setup{tools: []toolapi.Tool{act}, script: []string{`{"text":"I","calls":[{"name":"act"}],"finish":"max_tokens"}`}})
	w.prompt("go")
	w.mustTurn(pawl.ReasonMaxTokens)
	check(t, []pawl.CallFinished{{
		Call: "call_1_1", Status: pawl.CallRefused,
		Result: toolapi.ErrorResult("not run: the reply was cut off, so the call may be incomplete"),
	}}, w.results())
	if ran {
		t.Error("it was run")
	}
}

func TestContract_R11_EverythingIsHeard(t *testing.T) {
	t.Parallel()
	talk := newTool("talk", pawl.AccessRead, func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
		c.Progress("half ")
		c.Progress("is done.")
		return pawl.Result{Content: "half done"}, nil
	})
	w := newEnv(t, setup{tools: []toolapi.Tool{talk}, script: []string{
		`{"reasoning":"hm","text":"I will.","deltas":2,"calls":[{"name":"talk"},{"name":"nope"}]}`, `{"text":"Ok."}`,
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := make(chan pawl.Event, 100)
	ready := make(chan struct{})
	go func() {
		defer close(heard)
		for e, err := range w.bus.Events(ctx, session, 0) {
			if err != nil {
				t.Error(err)
				return
			}
			if e.Seq == 1 {
				close(ready)
			}
			heard <- e
			if _, ends := e.Body.(pawl.TurnFinished); ends {
				return
			}
		}
	}()
	receive(t, ready, "the reader")
	w.prompt("go")
	w.mustTurn(pawl.ReasonEndTurn)

	var got []pawl.Body
	for e := range heard {
		if e.Seq == 0 && e.Turn != 1 {
			t.Errorf("%s is of turn %d", pawl.KindOf(e.Body), e.Turn)
		}
		got = append(got, e.Body)
	}
	parts := pawl.Parts{
		pawl.Reasoning{Text: "hm"}, pawl.Text{Text: "I will."},
		pawl.ToolCall{ID: "call_1_1", Name: "talk", Input: []byte("{}")}, pawl.ToolCall{ID: "call_1_2", Name: "nope", Input: []byte("{}")},
	}
	want := []pawl.Body{
		pawl.SessionCreated{Dir: w.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: modelRef}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: modelRef},
		pawl.Delta{Reply: 4, Channel: pawl.ChannelReasoning, Text: "h"},
		pawl.Delta{Reply: 4, Channel: pawl.ChannelReasoning, Offset: 1, Text: "m"},
		pawl.Delta{Reply: 4, Channel: pawl.ChannelText, Text: "I w"},
		pawl.Delta{Reply: 4, Channel: pawl.ChannelText, Offset: 3, Text: "ill."},
		pawl.Replied{Step: 1, Model: modelRef, Agent: Default, Parts: parts, Finish: pawl.FinishToolUse},
		pawl.CallFinished{Call: "call_1_2", Status: pawl.CallRefused, Result: toolapi.ErrorResult(`there is no tool "nope"; there are: talk`)},
		pawl.CallStarted{Call: "call_1_1", Tool: "talk", Access: []pawl.Access{{Kind: pawl.AccessRead, Target: "call_1_1"}}, ReadOnly: true},
		pawl.Progress{Call: "call_1_1", Text: "half "},
		pawl.Progress{Call: "call_1_1", Text: "is done."},
		pawl.CallFinished{Call: "call_1_1", Status: pawl.CallDone, Result: pawl.Result{Content: "half done"}},
		pawl.ReplyStarted{Step: 2, Model: modelRef},
		pawl.Delta{Reply: 9, Channel: pawl.ChannelText, Text: "Ok."},
		pawl.Replied{Step: 2, Model: modelRef, Agent: Default, Parts: pawl.Parts{pawl.Text{Text: "Ok."}}, Finish: pawl.FinishEndTurn},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2},
	}
	check(t, want, got)
}
