package pawl

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// logOf numbers the bodies after a SessionCreated: bodies[0] is event 2.
func logOf(bodies ...Body) []Event {
	events := []Event{{Seq: 1, Body: SessionCreated{Dir: "/project"}}}
	for i, b := range bodies {
		events = append(events, Event{Seq: Seq(i + 2), Body: b})
	}
	return events
}

func prompted(text string) Prompted { return Prompted{Parts: Parts{Text{text}}} }

func call(id CallID) ToolCall {
	return ToolCall{ID: id, Name: "read", Input: json.RawMessage(`{}`)}
}

func finished(id CallID, content string) CallFinished {
	return CallFinished{Call: id, Status: CallDone, Result: Result{Content: content}}
}

func result(id CallID, content string) ToolResult { return ToolResult{Call: id, Content: content} }

func TestConversation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		log  []Event
		want []Message
	}{
		{"nothing", nil, nil},
		{"a prompt that waits is not part of it", logOf(prompted("hello")), nil},
		{
			"a plain turn",
			logOf(
				SessionTitled{Title: "greeting"}, prompted("hello"), TurnStarted{Prompt: 3},
				ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{Text{"hi"}}, Finish: FinishEndTurn}, TurnFinished{Reason: ReasonEndTurn},
			),
			[]Message{{4, RoleUser, Parts{Text{"hello"}}}, {6, RoleAssistant, Parts{Text{"hi"}}}},
		},
		{
			"results come in the order of the calls",
			logOf(
				prompted("go"), TurnStarted{Prompt: 2},
				ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a"), Text{"and"}, call("b"), call("c")}, Finish: FinishToolUse},
				CallStarted{Call: "b"}, CallStarted{Call: "c"},
				finished("c", "3"), finished("a", "1"),
				CallFinished{Call: "b", Status: CallRefused, Result: Result{Content: "no", IsError: true}},
				ReplyStarted{Step: 2}, Replied{Step: 2, Parts: Parts{Text{"done"}}, Finish: FinishEndTurn}, TurnFinished{},
			),
			[]Message{
				{3, RoleUser, Parts{Text{"go"}}},
				{5, RoleAssistant, Parts{call("a"), Text{"and"}, call("b"), call("c")}},
				{5, RoleTool, Parts{result("a", "1"), ToolResult{Call: "b", Content: "no", IsError: true}, result("c", "3")}},
				{12, RoleAssistant, Parts{Text{"done"}}},
			},
		},
		{
			"a steered prompt is taken in between the steps",
			logOf(
				prompted("go"), TurnStarted{Prompt: 2},
				ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a")}},
				Prompted{Parts: Parts{Text{"stop"}}, Delivery: DeliverSteer}, finished("a", "1"),
				Injected{Source: "user", Prompt: 6}, Injected{Source: "max_steps", Text: "wrap up"},
				ReplyStarted{Step: 2}, Replied{Step: 2, Parts: Parts{Text{"stopped"}}}, TurnFinished{},
			),
			[]Message{
				{3, RoleUser, Parts{Text{"go"}}},
				{5, RoleAssistant, Parts{call("a")}},
				{5, RoleTool, Parts{result("a", "1")}},
				{8, RoleUser, Parts{Text{"stop"}}},
				{9, RoleUser, Parts{Text{"wrap up"}}},
				{11, RoleAssistant, Parts{Text{"stopped"}}},
			},
		},
		{
			"a queued prompt is the next turn's",
			logOf(
				prompted("one"), TurnStarted{Prompt: 2}, Prompted{Parts: Parts{Text{"two"}}, Delivery: DeliverQueue},
				ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{Text{"1"}}}, TurnFinished{},
				TurnStarted{Prompt: 4}, ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{Text{"2"}}}, TurnFinished{},
			),
			[]Message{
				{3, RoleUser, Parts{Text{"one"}}}, {6, RoleAssistant, Parts{Text{"1"}}},
				{8, RoleUser, Parts{Text{"two"}}}, {10, RoleAssistant, Parts{Text{"2"}}},
			},
		},
		{
			"a call without a result, in a log that was interrupted, has none",
			logOf(
				prompted("go"), TurnStarted{Prompt: 2}, ReplyStarted{Step: 1},
				Replied{Step: 1, Parts: Parts{call("a"), call("b"), call("c")}}, CallStarted{Call: "b"}, finished("c", "3"),
			),
			[]Message{
				{3, RoleUser, Parts{Text{"go"}}},
				{5, RoleAssistant, Parts{call("a"), call("b"), call("c")}},
				{5, RoleTool, Parts{result("c", "3")}},
			},
		},
		{
			"nor is there a message for no results",
			logOf(prompted("go"), TurnStarted{Prompt: 2}, ReplyStarted{Step: 1}, Replied{Step: 1, Parts: Parts{call("a")}}, CallStarted{Call: "a"}),
			[]Message{{3, RoleUser, Parts{Text{"go"}}}, {5, RoleAssistant, Parts{call("a")}}},
		},
		{
			"a reply that was canceled before it said anything leaves no message",
			logOf(
				prompted("go"), TurnStarted{Prompt: 2}, ReplyStarted{Step: 1}, Replied{Step: 1, Finish: FinishCanceled},
				TurnFinished{Reason: ReasonCanceled},
			),
			[]Message{{3, RoleUser, Parts{Text{"go"}}}},
		},
		{
			"a reply that never came leaves none either",
			logOf(prompted("go"), TurnStarted{Prompt: 2}, ReplyStarted{Step: 1}, TurnFinished{Reason: ReasonError}),
			[]Message{{3, RoleUser, Parts{Text{"go"}}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Conversation(tt.log)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
