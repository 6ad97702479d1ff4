package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

var began = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)

// eventBuilder builds a log of events that are one second apart.
type eventBuilder struct {
	events []pawl.Event
	seq    pawl.Seq
	at     time.Time
}

func newEventBuilder() *eventBuilder { return &eventBuilder{at: began} }

// add appends events; those that are not durable have no number.
func (t *eventBuilder) add(bodies ...pawl.Body) pawl.Seq {
	for _, b := range bodies {
		t.at = t.at.Add(time.Second)
		e := pawl.Event{Session: "s", Turn: 1, At: t.at, Body: b}
		if pawl.KindOf(b).Durable() {
			t.seq++
			e.Seq = t.seq
		}
		t.events = append(t.events, e)
	}
	return t.seq
}

// call reports a call of a tool and its end.
func (t *eventBuilder) call(id, tool, input string, status pawl.CallStatus, r pawl.Result) {
	t.add(pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: pawl.CallID(id), Name: tool, Input: json.RawMessage(input)}}})
	if status != pawl.CallDenied && status != pawl.CallRefused {
		t.add(pawl.CallStarted{Call: pawl.CallID(id), Tool: tool})
	}
	if status != "" {
		t.add(pawl.CallFinished{Call: pawl.CallID(id), Status: status, Result: r})
	}
}

func (t *eventBuilder) log() *Log {
	l := NewLog()
	for _, e := range t.events {
		l.Apply(e)
	}
	return l
}

func styles(t testing.TB, name string) *theme.Styles {
	th, ok := theme.Find(name, nil)
	if !ok {
		t.Fatalf("unknown theme %q", name)
	}
	return theme.New(th)
}

// viewOf shows a log, at the time of its last event.
func viewOf(t testing.TB, tl *eventBuilder, theme string, width, height int) *View {
	v := NewView(tl.log(), styles(t, theme))
	v.now = tl.at
	v.Resize(width, height)
	return v
}

// all is every line of a view.
func all(v *View) []layout.Line {
	var lines []layout.Line
	entries := v.Log.Entries()
	for i, e := range entries {
		more := v.lines(e)
		lines = append(lines, more...)
		if v.entryHeight(entries, i) > len(more) {
			lines = append(lines, layout.Line{})
		}
	}
	return lines
}

func text(lines []layout.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

const change = "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n package a\n-var x = 1 // one\n+var x = \"two\"\n \n"

// samples build the logs of the golden files.
var samples = map[string]func(*eventBuilder){
	"prompts": func(t *eventBuilder) {
		first := t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Fix the typo in README.md, the one in the second paragraph, and say what it was about."},
			pawl.File{Name: "shot.png", MediaType: "image/png", Data: make([]byte, 12345)}}})
		t.add(pawl.TurnStarted{Prompt: first})
		steer := t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "and the other one"}}, Delivery: pawl.DeliverSteer})
		t.add(pawl.Injected{Source: "user", Prompt: steer})
		t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "be quick"}}, Delivery: pawl.DeliverSteer})
		t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "then the docs"}}, Delivery: pawl.DeliverQueue})
	},
	"replies": func(t *eventBuilder) {
		start := t.add(pawl.ReplyStarted{Step: 1, Model: "m"})
		t.add(pawl.Delta{Reply: start, Channel: pawl.ChannelReasoning, Text: "**Plan**\nFirst look, then think."},
			pawl.Delta{Reply: start, Channel: pawl.ChannelText, Text: "I"},
			pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: "**Plan**\nFirst look, then think."}, pawl.Text{Text: "I have *read* it:\n\n```go\nx := 1\n```\n"}}})
		start = t.add(pawl.ReplyStarted{Step: 2, Model: "m"})
		t.add(pawl.Delta{Reply: start, Channel: pawl.ChannelText, Text: "It grows **and gr"})
		t.add(pawl.Delta{Reply: start, Channel: pawl.ChannelReasoning, Text: "one\ntwo\nthree\nfour\nfive\nsix"})
	},
	"bash": func(t *eventBuilder) {
		t.call("c1", "bash", `{"command":"go test ./...\necho done"}`, pawl.CallDone, pawl.Result{Content: "ok\n(exit code 0)", Meta: map[string]string{"exit_code": "0"}})
		t.call("c2", "bash", `{"command":"make"}`, pawl.CallDone, pawl.Result{Content: "1\n2\n3\n4\n5\n6\nmake: error\n(exit code 2)", IsError: true, Meta: map[string]string{"exit_code": "2"}})
		t.call("c3", "bash", `{"command":"rm -rf /"}`, pawl.CallDenied, pawl.Result{Content: "the rule deny rm says no", IsError: true})
		t.call("c4", "bash", `{"command":"sleep 100"}`, pawl.CallCanceled, pawl.Result{Content: "canceled"})
		t.call("c5", "bash", `{"command":"server"}`, pawl.CallUnknown, pawl.Result{Content: "pawl died while it ran", IsError: true})
		t.call("c6", "bash", `{"command":"long"}`, pawl.CallDone, pawl.Result{Content: "head … tail", Meta: map[string]string{"exit_code": "0"}, Full: &pawl.Blob{ID: "b", Size: 1234567}})
		t.call("c7", "bash", `{"command":"watch"}`, "", pawl.Result{})
		t.add(pawl.Progress{Call: "c7", Text: "a\nb\nc\nd\ne\nf\n"}, pawl.Progress{Call: "c7", Text: "g\n"})
	},
	"shell": func(t *eventBuilder) {
		ran := func(command string, status pawl.CallStatus, r pawl.Result) {
			asked := t.add(pawl.ShellAsked{Command: command})
			if status != pawl.CallDenied {
				t.add(pawl.ShellStarted{Asked: asked}, pawl.Progress{Call: asked.ShellCall(), Text: "live\n"})
			}
			if status != "" {
				t.add(pawl.ShellRan{Asked: asked, Status: status, Result: r})
			}
		}
		ran("git status --short", pawl.CallDone, pawl.Result{Content: " M a.go\n?? b.go\n", Meta: map[string]string{"exit_code": "0"}})
		ran("seq 20; exit 2", pawl.CallDone, pawl.Result{Content: strings.Repeat("line\n", 20) + "(exit code 2)", IsError: true, Meta: map[string]string{"exit_code": "2"}})
		ran("git push", pawl.CallDenied, pawl.Result{Content: "not permitted: git push: your rule", IsError: true})
		ran("make", pawl.CallUnknown, pawl.Result{Content: "The outcome is unknown.", IsError: true})
		prompt := t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}})
		t.add(pawl.TurnStarted{Prompt: prompt})
		early := t.add(pawl.ShellAsked{Command: "make early"})
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "Done."}}}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn}, pawl.ShellStarted{Asked: early, Unsafe: "too large"})
		t.add(pawl.Progress{Call: early.ShellCall(), Text: "compiling\n"})
		t.add(pawl.ShellAsked{Command: "make late"})
	},
	"changes": func(t *eventBuilder) {
		patch := pawl.Patch{Path: "a.go", Diff: change}
		t.call("c1", "edit", `{"path":"a.go","old":"1","new":"2"}`, pawl.CallDone, pawl.Result{Content: change + "a.go:2: x is not used\n", Display: pawl.Parts{patch}})
		t.call("c2", "apply_patch", `{"patch":"*** Begin Patch"}`, pawl.CallDone, pawl.Result{Content: "2 files", Display: pawl.Parts{patch, pawl.Patch{Path: "b.py", Diff: "@@ -0,0 +1,20 @@\n" + strings.Repeat("+x = 1\n", 20)}}})
		t.call("c3", "write", `{"path":"c.go","content":"x"}`, pawl.CallRefused, pawl.Result{Content: "read the file first", IsError: true})
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "c4", Name: "write", Input: json.RawMessage(`{"path":"d.go","content":"y"}`)}}})
		t.add(pawl.Asked{Call: "c4", Ask: pawl.Ask{Kind: pawl.AskPermission, Text: "write d.go"}})
	},
	"lookups": func(t *eventBuilder) {
		t.call("c1", "read", `{"path":"a.go"}`, pawl.CallDone, pawl.Result{Content: "1: package a\n2: \n3: var x = 1\n"})
		t.call("c2", "grep", `{"pattern":"x","path":"src"}`, pawl.CallDone, pawl.Result{Content: "a.go\n  3: var x = 1\n  9: x++\n"})
		t.call("c3", "list", `{}`, pawl.CallDone, pawl.Result{Content: "a/\n  b.go\n"})
		t.call("c4", "read", `{"path":"shot.png"}`, pawl.CallDone, pawl.Result{Content: "image/png, 4 bytes", Files: []pawl.File{{Name: "shot.png", MediaType: "image/png", Data: []byte("1234")}}})
		t.call("c5", "webfetch", `{"url":"https://example.test/"}`, pawl.CallDone, pawl.Result{Content: "x", Meta: map[string]string{"status": "200"}})
		t.call("c6", "mcp__github__create_issue", `{"title":"A bug","labels":["x"]}`, pawl.CallDone, pawl.Result{Content: "made", Meta: map[string]string{"server": "github", "tool": "create_issue"}})
		t.call("c7", "read", `{"path":"gone.go"}`, pawl.CallDone, toolapi.ErrorResult("read gone.go: no such file"))
		t.call("c8", "skill", `{"name":"carve","source":"alice/tools"}`, pawl.CallDone, pawl.Result{Content: "Installed skill carve from alice/tools, commit 0123: 2 files.\n"})
	},
	"work": func(t *eventBuilder) {
		t.call("c1", "todowrite", `{"items":[{"content":"Fix","status":"completed"},{"content":"Test","status":"in_progress"},{"content":"Ship","status":"pending"},{"content":"Sing","status":"canceled"}]}`, pawl.CallDone, pawl.Result{Content: "ok"})
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "c2", Name: "task", Input: json.RawMessage(`{"agent":"explore","description":"Find the callers","prompt":"Who calls it?"}`)}}})
		t.add(pawl.CallStarted{Call: "c2", Tool: "task"}, pawl.Spawned{Call: "c2", Subagent: "k1", Agent: "explore", Title: "Find the callers"})
		t.add(pawl.CallFinished{Call: "c2", Status: pawl.CallDone, Result: pawl.Result{Content: "Task k1 ended"}})
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "c3", Name: "task", Input: json.RawMessage(`{"description":"Write docs"}`)}}})
		t.add(pawl.CallStarted{Call: "c3", Tool: "task"}, pawl.Spawned{Call: "c3", Subagent: "k2", Agent: "general", Title: "Write docs", Background: true})
		t.add(pawl.CallFinished{Call: "c3", Status: pawl.CallDone, Result: pawl.Result{Content: "works"}})
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "c4", Name: "question", Input: json.RawMessage(`{"questions":[{"header":"Store","question":"Which store?"}]}`)}}})
		t.add(pawl.CallStarted{Call: "c4", Tool: "question"})
		ask := t.add(pawl.Asked{Call: "c4", Ask: pawl.Ask{Kind: pawl.AskQuestion}})
		t.add(pawl.Answered{Ask: ask, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"SQLite"}}}})
		t.add(pawl.CallFinished{Call: "c4", Status: pawl.CallDone, Result: pawl.Result{Content: "SQLite", Meta: map[string]string{"outcome": "answered"}}})
	},
	"plan": func(t *eventBuilder) {
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "c1", Name: "plan_exit", Input: json.RawMessage(`{"plan":"# The plan\n\n1. read\n2. write\n"}`)}}})
		t.add(pawl.CallStarted{Call: "c1", Tool: "plan_exit"})
		ask := t.add(pawl.Asked{Call: "c1", Ask: pawl.Ask{Kind: pawl.AskPlan}})
		t.add(pawl.Answered{Ask: ask, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"Begin"}}, Text: "but quickly"}})
		t.add(pawl.CallFinished{Call: "c1", Status: pawl.CallDone, Result: pawl.Result{Content: "go", Meta: map[string]string{"outcome": "answered"}}})
	},
	"mission": func(t *eventBuilder) {
		hash := "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
		t.add(pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "Make it fast.\nAnd \x1b[2Jsmall."}})
		t.add(pawl.Planned{By: "commander", Plan: pawl.Plan{Tasks: []pawl.Task{{ID: "T1", Title: "one"}, {ID: "T2", Title: "two"}}}})
		t.add(pawl.CriteriaSet{Criteria: pawl.Criteria{Base: hash, Checks: []pawl.Check{{ID: "go-test"}}}}, pawl.Delegated{Tasks: []string{"T1", "T2"}})
		t.add(pawl.TaskStarted{Task: "T1", Attempt: 1, Worker: "c"}, pawl.TaskReturned{Task: "T1", Attempt: 1, Why: pawl.ReturnConflict, Text: "a\x1b[2J.go does not fit\nb.go"})
		t.add(pawl.TaskStarted{Task: "T1", Attempt: 2, Worker: "d"}, pawl.TaskMerged{Task: "T1", Attempt: 2, Commit: hash})
		t.add(pawl.CheckRan{CheckRun: pawl.CheckRun{Check: "go-test", On: "candidate", Tests: &pawl.TestCount{Passed: 12}}, Round: 1})
		t.add(pawl.CheckRan{CheckRun: pawl.CheckRun{Check: "lint", On: "candidate", Code: 1}, Round: 1})
		t.add(pawl.ReviewStarted{Round: 1, Reviewer: "e"}, pawl.Reviewed{Round: 1, Reviewer: "e"})
		t.add(pawl.GateResult{Round: 1, Faults: []pawl.GateFault{{Rule: "check-failed", Item: "lint", Text: "mend it"}}})
		t.add(pawl.Blocked{Reason: "The linter is not installed.\nInstall it\x07."}, pawl.Sealed{Candidate: hash})
	},
	"notes": func(t *eventBuilder) {
		p := t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}})
		t.add(pawl.TurnStarted{Prompt: p}, pawl.Injected{Source: "budget", Text: "half of it is spent"}, pawl.ModeChanged{Mode: "guard"})
		t.add(pawl.Compacted{Keep: 3, Before: 120000, After: 8000}, pawl.Compacted{Message: "it is small already"})
		t.add(pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 3, Usage: pawl.Usage{Input: 12000, Output: 345, Cost: 31_000_000}})
		t.add(pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "the key was refused", Steps: 1})
		t.add(pawl.TurnFinished{Reason: pawl.ReasonBudget, Message: "more than $1.00"}, pawl.TurnFinished{Reason: pawl.ReasonCanceled})
		t.add(pawl.Status{State: "interrupted", Message: "append replied: disk full"})
		t.add(pawl.ReplyStarted{Step: 1, Model: "m"}, pawl.Retried{Step: 1, Retry: pawl.Retry{Attempt: 1, Wait: 8 * time.Second, Model: "m", Kind: "overloaded", Message: "Overloaded"}})
	},
}

// themes are the looks that tests choose from.
var themes = map[string]*theme.Styles{"dark": theme.New(theme.Builtin[0]), "plain": theme.New(theme.Builtin[3])}
