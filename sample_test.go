package pawl

import (
	"encoding/json"
	"time"
)

// samples is one event of each kind with every field set, and among them a part of each type.
func samples() []Event {
	settings := Settings{Agent: "build", Model: "script:demo.jsonl", Mode: "ask", MaxSteps: 20, MaxCost: 2_000_000_000, MaxTokens: 100_000, MaxTime: time.Hour, MaxSessionCost: 9_000_000_000, Trusted: true, Absent: true, AskTimeout: time.Minute, Tools: []string{"read", "bash"}}
	usage := Usage{Input: 1200, Output: 90, Reasoning: 40, CacheRead: 800, CacheWrite: 300, Cost: 5_100_000}
	bodies := []Body{
		SessionCreated{Dir: "/home/ada/engine", Parent: "01JCZ8Q4T0ABCDEFGHJKMNPQRS", ParentCall: "call_1_1"},
		SessionTitled{Title: "Fix the <typo> & go"},
		Prompted{
			Parts:    Parts{Text{"Fix the typo.\n"}, File{Name: "shot.png", MediaType: "image/png", Data: []byte{0x89, 'P', 'N', 'G'}}},
			Delivery: DeliverQueue,
			Settings: settings,
		},
		TurnStarted{Prompt: 3},
		ReplyStarted{Step: 1, Model: "script:demo.jsonl"},
		Retried{Step: 1, Retry: Retry{Attempt: 1, Wait: 2 * time.Second, Model: "openai/gpt-5", Kind: ErrorOverloaded, Message: "try again later"}},
		Replied{
			Step:  1,
			Model: "openai/gpt-5",
			Agent: "build",
			Parts: Parts{
				Reasoning{Text: "It says v1.", Signature: "c2VhbA=="},
				Text{"I will edit it. ✓"},
				ToolCall{ID: "call_1_1", Name: "edit", Input: json.RawMessage(`{"path":"a.go","old":"v1","new":"v2"}`), Signature: "c2VhbA=="},
			},
			Finish: FinishToolUse,
			Usage:  usage,
		},
		CallStarted{Call: "call_1_1", Tool: "edit", Access: []Access{{AccessRead, "a.go"}, {AccessWrite, "a.go"}}, ReadOnly: true},
		Reworded{Prompt: 4, Parts: Parts{Text{"Fix it, please."}}},
		Withdrawn{Prompt: 5},
		Asked{Call: "call_1_2", Ask: Ask{
			Kind: AskQuestion, Text: "# Plan", Timeout: time.Minute,
			Questions: []Question{{Header: "Color", Question: "Which one?", Options: []Option{{Label: "red", Description: "loud"}}, Multiple: true}},
			Offer:     []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"ls","decision":"allow"}`)}, Names: "5891b5b5",
		}},
		Answered{Ask: 9, Answer: Answer{Outcome: OutcomeAnswered, Answers: [][]string{{"red", "a darker one"}}, Text: "Be quick.", Always: []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"ls","decision":"allow"}`)}}},
		TodosSet{Call: "call_1_3", Todos: []Todo{{ID: "1", Content: "Fix it", Status: TodoInProgress, Priority: PriorityHigh}}},
		ModeChanged{Call: "call_1_4", Mode: "guard"},
		Spawned{Call: "call_1_5", Child: "01JD0000000000000000000001", Agent: "explore", Title: "Find it", Background: true},
		CallFinished{
			Call:   "call_1_1",
			Status: CallDone,
			Result: Result{
				Content: "a.go: 1 change",
				Display: Parts{Patch{Path: "a.go", Diff: "-v1\n+v2\n"}, ToolResult{Call: "call_1_0", Content: "no", Files: []File{{Name: "b.pdf", MediaType: "application/pdf", Data: []byte{2}}}, IsError: true}},
				Meta:    map[string]string{"exit_code": "0", "duration": "1ms"},
				IsError: true,
				Files:   []File{{Name: "a.png", MediaType: "image/png", Data: []byte{1}}},
				Seen:    map[string]string{"a.go": "5891b5b522d5df086d0ff0b110fbd9d2"},
				Spill:   &Blob{ID: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Size: 70_000},
			},
		},
		Injected{Source: "user", Prompt: 9, Child: "01JD0000000000000000000001", Text: "Wrap up."},
		TurnFinished{Reason: ReasonError, Fault: FaultModel, Message: "the provider is overloaded", Steps: 2, Usage: usage},
		Delta{Reply: 5, Channel: ChannelReasoning, Offset: 8, Text: "v1."},
		Progress{Call: "call_1_1", Text: "ok  ./...\n"},
		Status{State: "interrupted", Message: "the disk is full"},
	}
	var events []Event
	for i, b := range bodies {
		events = append(events, Event{
			Session: "01JD0000000000000000000000",
			Seq:     Seq(i + 1),
			Turn:    1,
			At:      time.Date(2026, 11, 15, 2, 3, 4, 567_890_000, time.UTC),
			Body:    b,
		})
	}
	return events
}
