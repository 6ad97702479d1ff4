package pawl

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHistoryRefuses(t *testing.T) {
	t.Parallel()
	begun := []Body{prompted("go"), TurnStarted{Prompt: 2}}
	replied := slices.Concat(begun, []Body{ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a")}}}) // events 4, 5
	after := func(bodies []Body, more ...Body) []Event { return logOf(slices.Concat(bodies, more)...) }
	tests := []struct {
		name string
		log  []Event
		want string
	}{
		{"a gap", []Event{{Seq: 1, Body: SessionCreated{}}, {Seq: 3, Body: SessionTitled{}}}, "event 3 follows event 1: events are missing from the log"},
		{"a number twice", []Event{{Seq: 1, Body: SessionCreated{}}, {Seq: 1, Body: SessionCreated{}}}, "event 1 follows event 1: events are missing from the log"},
		{"no beginning", []Event{{Seq: 1, Body: SessionTitled{}}}, "event 1, session.titled: a log begins with the creation of its session, exactly once"},
		{"two beginnings", logOf(SessionCreated{}), "event 2, session.created: a log begins with the creation of its session, exactly once"},
		{"an unsaved event", logOf(Progress{}), "event 2, progress: an event of this kind cannot be in a log"},
		{"a second result", after(replied, finished("a", "1"), finished("a", "2")), "event 7, call.finished: call a already has a result"},
		{"a result for an unknown call", after(replied, finished("b", "1")), "event 6, call.finished: call b does not belong to the open turn"},
		{"a start of an unknown call", after(replied, CallStarted{Call: "b"}), "event 6, call.started: call b does not belong to the open turn"},
		{"a start after the result", after(replied, finished("a", "1"), CallStarted{Call: "a"}), "event 7, call.started: call a already has a result"},
		{
			"a result after the turn", after(replied, finished("a", "1"), TurnFinished{}, finished("a", "1")),
			"event 8, call.finished: call a does not belong to the open turn",
		},
		{
			"a call id twice in a reply", after(begun, ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a"), call("a")}}),
			"event 5, replied: call id a is used twice",
		},
		{
			"a call id twice in a session",
			after(replied, finished("a", "1"), TurnFinished{}, prompted("more"), TurnStarted{Prompt: 8},
				ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a")}}),
			"event 11, replied: call id a is used twice",
		},
		{"a turn that ends with an open call", after(replied, TurnFinished{}), "event 6, turn.finished: call a has no result"},
		{"a turn that ends twice", after(begun, TurnFinished{}, TurnFinished{}), "event 5, turn.finished: no turn is open"},
		{"a turn within a turn", after(begun, prompted("more"), TurnStarted{Prompt: 4}), "event 5, turn.started: turn 1 is still open"},
		{"a prompt taken twice", after(begun, Injected{Prompt: 2}), "event 4, injected: prompt 2 is not queued"},
		{"a turn of no prompt", logOf(TurnStarted{Prompt: 1}), "event 2, turn.started: prompt 1 is not queued"},
		{"an injection outside of turns", logOf(Injected{Text: "a"}), "event 2, injected: no turn is open"},
		{"a reply started outside of turns", logOf(ReplyStarted{Step: 1}), "event 2, reply.started: no turn is open"},
		{"a reply started before the last has come", after(begun, ReplyStarted{Step: 1}, ReplyStarted{Step: 2}), "event 5, reply.started: step 2 is not the next step"},
		{"a reply started while a call is open", after(replied, ReplyStarted{Step: 2}), "event 6, reply.started: call a has no result"},
		{"an injection while a call is open", after(replied, Injected{Text: "a"}), "event 6, injected: call a has no result"},
		{"a reply started out of step", after(begun, ReplyStarted{Step: 2}), "event 4, reply.started: step 2 is not the next step"},
		{"a reply that was not started", after(begun, Replied{Step: 1}), "event 4, replied: step 1 does not wait for a reply"},
		{"a reply to no step", after(begun, Replied{}), "event 4, replied: step 0 does not wait for a reply"},
		{"a reply out of step", after(begun, ReplyStarted{Step: 1}, Replied{Step: 2}), "event 5, replied: step 2 does not wait for a reply"},
		{"a second reply", after(replied, Replied{Step: 1}), "event 6, replied: step 1 does not wait for a reply"},
		{"an ask of an unknown call", after(replied, Asked{Call: "b"}), "event 6, asked: call b does not belong to the open turn"},
		{"a second ask of a call", after(replied, Asked{Call: "a"}, Asked{Call: "a"}), "event 7, asked: call a has already asked"},
		{"an ask of the turn while a call is open", after(replied, Asked{Ask: Ask{Kind: AskLoop}}), "event 6, asked: call a has no result"},
		{"an ask of no turn", logOf(Asked{Ask: Ask{Kind: AskLoop}}), "event 2, asked: no turn is open"},
		{
			"a second ask of the turn", after(begun, Asked{Ask: Ask{Kind: AskLoop}}, Asked{Ask: Ask{Kind: AskLoop}}),
			"event 5, asked: a turn can ask only once between two steps, and not for a call",
		},
		{
			"an ask of the turn for a call", after(begun, Asked{Call: "a", Ask: Ask{Kind: AskLoop}}),
			"event 4, asked: a turn can ask only once between two steps, and not for a call",
		},
		{
			"an answer to what the turn asked before the step", after(begun, Asked{Ask: Ask{Kind: AskLoop}}, ReplyStarted{Step: 1}, Answered{Ask: 4}),
			"event 6, answered: event 4 is not an open question",
		},
		{"an answer to nothing", after(replied, Answered{Ask: 5}), "event 6, answered: event 5 is not an open question"},
		{"a second answer", after(replied, Asked{Call: "a"}, Answered{Ask: 6}, Answered{Ask: 6}), "event 8, answered: event 6 is not an open question"},
		{
			"an answer after the turn", after(replied, Asked{Call: "a"}, finished("a", "1"), TurnFinished{}, Answered{Ask: 6}),
			"event 9, answered: event 6 is not an open question",
		},
		{"a child of an unknown call", after(replied, Spawned{Call: "b"}), "event 6, spawned: call b does not belong to the open turn"},
		{"a second child of a call", after(replied, Spawned{Call: "a"}, Spawned{Call: "a"}), "event 7, spawned: call a already has a subagent"},
		{
			"the end of a child that was waited for", after(replied, Spawned{Call: "a", Subagent: "c"}, finished("a", "1"), Injected{Subagent: "c"}),
			"event 8, injected: the turn does not wait for subagent c",
		},
		{
			"the end of a child, twice", after(replied, Spawned{Call: "a", Subagent: "c", Background: true}, finished("a", "1"), Injected{Subagent: "c"}, Injected{Subagent: "c"}),
			"event 9, injected: the turn does not wait for subagent c",
		},
		{"a reply outside of turns", logOf(Replied{Step: 1}), "event 2, replied: step 1 does not wait for a reply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Conversation(tt.log)
			if err == nil {
				t.Fatalf("folded to %+v, want an error", got)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHistory checks the state of a history at each point of a turn.
func TestHistory(t *testing.T) {
	t.Parallel()
	settings := Settings{Agent: "build", Model: "m", MaxSteps: 3}
	usage := Usage{Input: 2, Output: 1}
	var h History
	apply := func(bodies ...Body) {
		t.Helper()
		for _, b := range bodies {
			if err := h.Apply(Event{Seq: h.Head() + 1, Body: b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(CallState{})); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	steer := Prompted{Parts: Parts{Text{"stop"}}, Delivery: DeliverSteer}
	apply(SessionCreated{Dir: "/project"}, Prompted{Parts: Parts{Text{"go"}}, Settings: settings}, steer)
	check("created", SessionCreated{Dir: "/project"}, h.Created())
	check("waiting", []Waiting{{2, Prompted{Parts: Parts{Text{"go"}}, Settings: settings}}, {3, steer}}, h.Waiting())
	check("settings of the newest prompt", Settings{}, h.Settings())
	check("open", (*OpenTurn)(nil), h.Open())

	apply(TurnStarted{Prompt: 2}, Injected{Source: "user", Prompt: 3})
	check("open", &OpenTurn{Number: 1, Prompt: 2, Settings: settings, Steered: []Waiting{{3, steer}}, Injected: []string{"user"}}, h.Open())
	check("waiting", []Waiting{}, h.Waiting())

	apply(ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a"), call("b")}, Finish: FinishToolUse, Usage: usage}, CallStarted{Call: "b", Tool: "read"})
	check("open", &OpenTurn{
		Number: 1, Prompt: 2, Settings: settings, Usage: usage, Steered: []Waiting{{3, steer}},
		Steps: []Step{{Started: 6, Replied: true, Finish: FinishToolUse, Calls: []CallID{"a", "b"}}},
	}, h.Open())
	check("a call that waits", &CallState{Call: call("a"), message: 3}, h.Call("a"))
	check("a call that runs", &CallState{Call: call("b"), Started: &CallStarted{Call: "b", Tool: "read"}, message: 3, slot: 1}, h.Call("b"))

	apply(finished("a", "1"), finished("b", "2"))
	check("a call that is done", &CallState{Call: call("a"), Finished: true, message: 3}, h.Call("a"))
	check("a call that ran", &CallStarted{Call: "b", Tool: "read"}, h.Call("b").Started)
	apply(ReplyStarted{Step: 2})
	check("a call of an earlier step", &CallState{Call: ToolCall{ID: "b", Name: "read"}, Finished: true, message: 3, slot: 1}, h.Call("b"))

	apply(TurnFinished{})
	check("open", (*OpenTurn)(nil), h.Open())
	check("a call of a turn that is over", (*CallState)(nil), h.Call("a"))
	check("ids", []bool{true, true, false}, []bool{h.CallIDUsed("a"), h.CallIDUsed("b"), h.CallIDUsed("c")})
	check("counts", []int{12, 1, 1}, []int{int(h.Head()), h.Turns(), h.Replies()})
}

// TestHistoryAfterRefusal checks that a rejected event does not change the head.
func TestHistoryAfterRefusal(t *testing.T) {
	t.Parallel()
	var h History
	if err := h.Apply(Event{Seq: 1, Body: SessionTitled{}}); err == nil {
		t.Fatal("no error")
	}
	if h.Head() != 0 {
		t.Errorf("head is %d, want 0", h.Head())
	}
}

// TestHistoryOfCalls checks what calls add to the log besides their results.
func TestHistoryOfCalls(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	var h History
	apply := func(bodies ...Body) {
		t.Helper()
		for _, b := range bodies {
			if err := h.Apply(Event{Seq: h.Head() + 1, At: at, Body: b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	apply(SessionCreated{}, Prompted{Settings: Settings{Mode: "plan"}}, TurnStarted{Prompt: 2}, ReplyStarted{Step: 1},
		Replied{Step: 1, Parts: Parts{call("a"), call("b"), call("c")}})
	check("no ask", (*OpenAsk)(nil), h.Ask(6))

	asked := Asked{Call: "a", Ask: Ask{Kind: AskQuestion}}
	apply(asked)
	check("an ask", &OpenAsk{Seq: 6, At: at, Asked: asked}, h.Ask(6))
	check("the call that asked", h.Ask(6), h.Call("a").Asked)
	answer := Answer{Outcome: OutcomeAnswered, Answers: [][]string{{"x"}}}
	apply(Answered{Ask: 6, Answer: answer})
	check("the answer", &answer, h.Ask(6).Answer)

	waited := Spawned{Call: "b", Subagent: "s1"}
	behind := Spawned{Call: "c", Subagent: "s2", Background: true}
	apply(waited, behind)
	check("a child", &waited, h.Call("b").Spawned)
	check("subagents", []Spawned{waited, behind}, h.Open().Subagents)
	check("pending", []SessionID{behind.Subagent}, h.Open().Pending)

	todos := []Todo{{ID: "1", Content: "x"}}
	apply(TodosSet{Todos: todos}, ModeChanged{Mode: "guard"})
	check("todos", todos, h.Todos())
	check("mode", []string{"guard", "guard"}, []string{h.Settings().Mode, h.Open().Settings.Mode})

	image := []File{{Name: "a.png"}}
	apply(
		CallFinished{Call: "a", Result: Result{Files: image, Seen: map[string]string{"x": "1", "y": "1"}}},
		CallFinished{Call: "b", Result: Result{Seen: map[string]string{"y": "2", "x": ""}}}, finished("c", ""),
	)
	check("what was seen", []string{"", "2", ""}, []string{h.Seen("x"), h.Seen("y"), h.Seen("z")})
	check("files go with the result", image, h.Messages()[1].Parts[0].(ToolResult).Files)
	apply(Injected{Source: "task", Subagent: "s2", Text: "done"})
	check("pending", 0, len(h.Open().Pending))

	apply(TurnFinished{})
	check("an ask of a turn that is over", (*OpenAsk)(nil), h.Ask(6))
	check("todos stay", todos, h.Todos())
	check("what was seen stays", "2", h.Seen("y"))
}

// TestHistoryIsCompactedAgain checks the position of a second summary: a summary has
// a higher number than the events it keeps.
func TestHistoryIsCompactedAgain(t *testing.T) {
	t.Parallel()
	var h History
	apply := func(bodies ...Body) {
		t.Helper()
		for _, b := range bodies {
			if err := h.Apply(Event{Seq: h.Head() + 1, Body: b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	texts := func() (texts []string) {
		for _, m := range h.Messages() {
			texts = append(texts, m.Text())
		}
		return texts
	}
	say := func(text string) Parts { return Parts{Text{text}} }
	apply(SessionCreated{}, Prompted{Parts: say("a")}, TurnStarted{Prompt: 2},
		ReplyStarted{Step: 1}, Replied{Step: 1, Parts: say("b")}, Injected{Text: "c"}, // 5, 6
		ReplyStarted{Step: 2}, Replied{Step: 2, Parts: say("d")}) // 8
	for _, test := range []struct {
		keep Seq
		want []string
	}{
		{5, []string{"sum 5", "b", "c", "d"}},
		{6, []string{"sum 6", "c", "d"}},
		{0, []string{"sum 6", "c", "d"}},
		{8, []string{"sum 8", "d"}},
		{100, []string{"sum 100"}},
	} {
		apply(Compacted{Keep: test.keep, Text: fmt.Sprintf("sum %d", test.keep)})
		if diff := cmp.Diff(test.want, texts()); diff != "" {
			t.Errorf("keep %d: %s", test.keep, diff)
		}
	}
}
