package export_test

import (
	"encoding/json"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

const (
	session  pawl.SessionID = "01JD0000000000000000000000"
	subagent pawl.SessionID = "01JD0000000000000000000001"

	commit = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
)

var png = []byte("\x89PNG\r\n\x1a\nnot really")

// sample is a session with a body of every kind.
func sample() []pawl.Event {
	text := func(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }
	usage := pawl.Usage{Input: 1200, Output: 90, CacheRead: 800, Cost: 5_100_000}
	call := func(id pawl.CallID, name, input string) pawl.ToolCall {
		return pawl.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
	}
	return events(
		pawl.SessionCreated{Dir: "/home/ada/engine", Owner: "ada", Forked: &pawl.Origin{Session: "01JCZ8Q4T0ABCDEFGHJKMNPQRT", At: 12}},
		pawl.Prompted{Parts: append(text("Fix the typo in a.go.\n\nIt is in ```code```."), pawl.File{Name: "shot.png", MediaType: "image/png", Data: png})},
		pawl.SessionTitled{Title: "Fix the typo"},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: "openai/gpt-5"},
		pawl.Retried{Step: 1, Retry: pawl.Retry{Attempt: 1, Kind: pawl.ErrorOverloaded, Message: "try again later"}},
		pawl.Replied{Step: 1, Parts: pawl.Parts{
			pawl.Reasoning{Text: "It says v1.", Signature: "c2VhbA=="},
			pawl.Text{Text: "# I will edit it\n\nFirst a **look**."},
			call("c1", "edit", `{"path":"a.go","old":"v1","new":"v2"}`), call("c2", "question", `{}`), call("c3", "bash", `{"command":"make"}`), call("c4", "task", `{}`),
		}, Finish: pawl.FinishToolUse, Usage: usage},
		pawl.CallStarted{Call: "c1", Tool: "edit", Access: []pawl.Access{{Kind: pawl.AccessWrite, Target: "a.go"}}},
		pawl.Asked{Call: "c1", Ask: pawl.Ask{Kind: pawl.AskPermission, Text: "edit a.go"}},
		pawl.Answered{Ask: 9, By: pawl.Actor{Token: "server"}, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: []json.RawMessage{json.RawMessage(`{"tool":"edit"}`)}}},
		pawl.CallFinished{Call: "c1", Status: pawl.CallDone, Result: pawl.Result{
			Content: "a.go: 1 change",
			Display: pawl.Parts{pawl.Patch{Path: "a.go", Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-v1\n+v2\n same\n"}},
			Files:   []pawl.File{{Name: "a.png", MediaType: "image/png", Data: png}, {Name: "b.svg", MediaType: "image/svg+xml", Data: []byte("<svg/>")}},
		}},
		pawl.Asked{Call: "c2", Ask: pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{
			Header: "Color", Question: "Which one?", Options: []pawl.Option{{Label: "red", Description: "loud"}, {Label: "blue"}},
		}}}},
		pawl.Answered{Ask: 12, Answer: pawl.Answer{Outcome: pawl.OutcomeTimeout}},
		pawl.CallFinished{Call: "c2", Status: pawl.CallDenied, Result: toolapi.ErrorResult("nobody answered")},
		pawl.CallFinished{Call: "c3", Status: pawl.CallDone, Result: pawl.Result{Content: "make: failed", IsError: true, Full: &pawl.Blob{ID: "9f86", Size: 70_000}}},
		pawl.TodosSet{Call: "c4", Todos: []pawl.Todo{{ID: "1", Content: "Fix it", Status: pawl.TodoInProgress}, {ID: "2", Content: "Test it", Status: pawl.TodoPending}}},
		pawl.ModeChanged{Call: "c4", Mode: "guard"},
		pawl.Spawned{Call: "c4", Subagent: subagent, Agent: "explore", Title: "Find the callers"},
		pawl.Prompted{Parts: text("hurry"), Delivery: pawl.DeliverSteer, By: pawl.Actor{User: "ada", Token: "01JD00000000000000000000T0"}},
		pawl.Reworded{Prompt: 19, Parts: text("hurry, please")},
		pawl.Injected{Source: "user", Prompt: 19},
		pawl.Injected{Source: "budget", Text: "The budget runs out."},
		pawl.Prompted{Parts: text("never mind"), Delivery: pawl.DeliverQueue},
		pawl.Withdrawn{Prompt: 23},
		pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "the provider is overloaded", Steps: 2, Usage: usage},
		pawl.SessionSummarized{Summary: "The typo is fixed."},
		pawl.CompactionAsked{Instructions: "Keep the names."},
		pawl.Compacted{Asked: 27, Keep: 7, Text: "So far: all is well.", Before: 90_000, After: 12_000, Message: "it freed less than a fifth"},
		pawl.UndoAsked{Undo: pawl.Undo{To: 4, Scope: pawl.ScopeFiles}, By: pawl.Actor{User: "ada"}},
		pawl.Undone{Asked: 29, Changed: []string{"a.go"}},
		pawl.UndoAsked{Undo: pawl.Undo{Redo: 30}},
		pawl.Undone{Asked: 31, Refused: "a.go was changed since"},
		pawl.Prompted{Parts: text("one more thing"), Delivery: pawl.DeliverQueue},
		pawl.SessionShared{With: []pawl.User{"bob", "eve"}, By: pawl.Actor{User: "ada"}},
		pawl.SessionShared{},
		pawl.ShellAsked{Command: "go test ./...", By: pawl.Actor{User: "ada"}},
		pawl.ShellStarted{Asked: 36},
		pawl.ShellRan{Asked: 36, Status: pawl.CallDone, Result: pawl.Result{Content: "FAIL\n(exit code 1)", IsError: true}},
		pawl.ShellAsked{Command: "sleep 100"},
		pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "Make it `fast`.", Criteria: []pawl.Criterion{{ID: "C1", Text: "below <1 s>"}}}},
		pawl.Planned{By: "planner", Plan: pawl.Plan{Tasks: []pawl.Task{{ID: "T1", Title: "one"}, {ID: "T2", Title: "two", After: []string{"T1"}}}}},
		pawl.CriteriaSet{Criteria: pawl.Criteria{Base: commit, Checks: []pawl.Check{{ID: "go-test", Args: []string{"/usr/bin/go", "test", "./..."}}}}},
		pawl.Delegated{Tasks: []string{"T1", "T2"}},
		pawl.TaskStarted{Task: "T1", Attempt: 2, Worker: subagent},
		pawl.TaskMerged{Task: "T1", Attempt: 2, Commit: commit},
		pawl.TaskReturned{Task: "T2", Attempt: 1, Why: pawl.ReturnConflict, Text: "a.go does not fit\n<<<<<<< ours"},
		pawl.CheckRan{CheckRun: pawl.CheckRun{Check: "go-test", On: "candidate", Code: 1, Tail: "--- FAIL: TestA\n", Tests: &pawl.TestCount{Passed: 11, Failed: 1}}, Round: 1},
		pawl.ReviewStarted{Round: 1, Reviewer: subagent, Model: "openai/gpt-5"},
		pawl.Reviewed{Round: 1, Reviewer: subagent, Holds: []pawl.Judgment{{ID: "C1", Holds: true, Why: "it was measured"}}},
		pawl.GateResult{Round: 1, Candidate: commit, Faults: []pawl.GateFault{{Rule: "check-failed", Item: "go-test", Text: "TestA fails: mend it"}}},
		pawl.Blocked{Reason: "nobody knows how", By: "commander"},
		pawl.Sealed{Round: 2, Candidate: commit},
	)
}

func events(bodies ...pawl.Body) []pawl.Event {
	var list []pawl.Event
	for i, b := range bodies {
		list = append(list, pawl.Event{
			Session: session, Seq: pawl.Seq(i + 1), Turn: 1, At: time.Date(2026, 11, 15, 9, 0, i, 0, time.UTC), Body: b,
		})
	}
	return list
}

// document is a session with these events, and a row that fits them.
func document(events []pawl.Event) export.Document {
	s := pawl.Session{ID: session, Head: pawl.Seq(len(events))}
	store.ChangeOf(events).Apply(&s)
	return export.Document{Session: s, Events: all(events)}
}

func all(events []pawl.Event) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// The sample has every kind that a log can hold, so that the goldens show them.
func TestSampleIsComplete(t *testing.T) {
	t.Parallel()
	for _, kind := range pawl.Kinds() {
		if kind.Durable() && !slices.ContainsFunc(sample(), func(e pawl.Event) bool { return pawl.KindOf(e.Body) == kind }) {
			t.Errorf("the sample has no %s", kind)
		}
	}
}
