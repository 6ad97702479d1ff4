// Package transcripttest generates the events of sessions, to test what turns them into something to look at.
package transcripttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// logGen writes random logs of a session.
type logGen struct {
	t      *rapid.T
	events []pawl.Event
	seq    pawl.Seq
	turn   int
	calls  int
	undone []pawl.Seq // that can be redone
	turns  []pawl.Seq // that can be undone
}

func (g *logGen) add(b pawl.Body) pawl.Seq {
	e := pawl.Event{Turn: g.turn, At: time.Unix(int64(len(g.events)), 0), Body: b}
	if pawl.KindOf(b).Durable() {
		g.seq++
		e.Seq = g.seq
	}
	g.events = append(g.events, e)
	return e.Seq
}

func (g *logGen) chance() bool { return rapid.Bool().Draw(g.t, "chance") }

func (g *logGen) number(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "number") }

func text(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }

// step adds something that happens between turns.
func (g *logGen) step() {
	switch g.number(7) {
	case 0, 1, 2:
		g.wholeTurn()
	case 3:
		g.shell()
	case 4:
		if len(g.turns) > 0 {
			i := g.number(len(g.turns))
			asked := g.add(pawl.UndoAsked{Undo: pawl.Undo{To: g.turns[i], Scope: []pawl.Scope{pawl.ScopeBoth, pawl.ScopeFiles, pawl.ScopeConversation}[g.number(3)]}})
			b := pawl.Undone{Asked: asked, Changed: []string{"a.go"}}
			if g.number(4) == 0 {
				b.Refused = "conflict"
			}
			g.undone = append(g.undone, g.add(b))
		}
	case 5:
		if n := len(g.undone); n > 0 {
			asked := g.add(pawl.UndoAsked{Undo: pawl.Undo{Redo: g.undone[n-1]}})
			g.add(pawl.Undone{Asked: asked})
			g.undone = g.undone[:n-1]
		}
	case 6:
		g.mission()
	}
}

func (g *logGen) mission() {
	g.add(pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "make it fast"}})
	g.add(pawl.TaskStarted{Task: "T1", Worker: pawl.SessionID(fmt.Sprintf("w%d", g.seq))})
	g.add(pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "go-test fails"})
	if g.chance() {
		g.add(pawl.Sealed{Candidate: "1a2b3c4d5e6f"})
		return
	}
	g.add(pawl.Blocked{Reason: "out of ideas\nand of time", State: []pawl.MissionState{"", pawl.MissionPaused, pawl.MissionPlanned}[g.number(3)]})
}

func (g *logGen) shell() {
	asked := g.add(pawl.ShellAsked{Command: "make"})
	if g.chance() {
		g.add(pawl.ShellStarted{Asked: asked})
		g.add(pawl.Progress{Call: asked.ShellCall(), Text: "cc\n"})
	}
	if g.chance() {
		g.add(pawl.ShellRan{Asked: asked, Status: pawl.CallDone, Result: pawl.Result{Content: "ok"}})
	}
}

// wholeTurn adds a turn, perhaps an interrupted one.
func (g *logGen) wholeTurn() {
	prompt := g.add(pawl.Prompted{Parts: text(fmt.Sprintf("prompt %d", g.seq))})
	if g.chance() {
		g.add(pawl.Reworded{Prompt: prompt, Parts: text("reworded")})
	}
	if g.number(5) == 0 {
		g.add(pawl.Withdrawn{Prompt: prompt})
		return
	}
	g.turn = len(g.turns) + 1
	g.turns = append(g.turns, g.add(pawl.TurnStarted{Prompt: prompt}))
	for range g.number(3) {
		g.reply()
	}
	if g.chance() {
		g.add(pawl.TurnFinished{Reason: []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonCanceled, pawl.ReasonError, pawl.ReasonBudget}[g.number(4)], Message: "why", Steps: 1})
	}
	g.turn = 0
}

// reply adds a reply that is streamed, perhaps with a gap, a retry and calls.
func (g *logGen) reply() {
	started := g.add(pawl.ReplyStarted{Model: "m"})
	said := "thought"
	for i := 0; i < len(said); i++ {
		if g.number(8) > 0 { // otherwise it is lost
			g.add(pawl.Delta{Reply: started, Channel: pawl.ChannelReasoning, Offset: i, Text: said[i : i+1]})
		}
	}
	if g.chance() {
		g.add(pawl.Delta{Reply: started, Channel: pawl.ChannelText, Text: "some "})
		g.add(pawl.Delta{Reply: started, Channel: pawl.ChannelText, Offset: 2, Text: "me text"})
	}
	if g.number(4) == 0 {
		g.add(pawl.Retried{Retry: pawl.Retry{Attempt: 1, Message: "overloaded", Model: "m"}})
		g.add(pawl.Delta{Reply: started, Channel: pawl.ChannelText, Text: "again"})
	}
	if g.number(4) == 0 {
		return
	}
	g.calls++
	id := pawl.CallID(fmt.Sprintf("c%d", g.calls))
	g.add(pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: said}, pawl.Text{Text: "some text"}, pawl.Text{Text: " "}, pawl.Text{Text: "more"}, pawl.ToolCall{ID: id, Name: "bash", Input: json.RawMessage(`{}`)}}})
	g.call(id)
}

func (g *logGen) call(id pawl.CallID) {
	if g.chance() {
		asked := g.add(pawl.Asked{Call: id, Ask: pawl.Ask{Kind: pawl.AskPermission, Text: "run make"}})
		if g.chance() {
			g.add(pawl.Answered{Ask: asked, Answer: pawl.Answer{Outcome: []pawl.Outcome{pawl.OutcomeAnswered, pawl.OutcomeDenied}[g.number(2)]}})
		}
	}
	g.add(pawl.CallStarted{Call: id, Tool: "bash"})
	g.add(pawl.Progress{Call: id, Text: "é"})
	if g.number(20) == 0 {
		g.add(pawl.Progress{Call: id, Text: strings.Repeat("é", 16<<10)})
	}
	g.add(pawl.Spawned{Call: id, Subagent: pawl.SessionID("s" + id), Background: g.chance()})
	g.add(pawl.TodosSet{Call: id, Todos: []pawl.Todo{{ID: "1"}}})
	if g.chance() {
		g.add(pawl.CallFinished{Call: id, Status: pawl.CallDone, Result: pawl.Result{Content: "ok", IsError: g.chance()}})
	}
	g.add(pawl.Status{State: "notice", Message: "a hook"})
	g.add(pawl.Injected{Source: "task", Subagent: pawl.SessionID("s" + id), Text: "found"})
}

// Log returns the events of a random session, also those that are not saved: turns, replies that are streamed, calls,
// commands, missions, undos and redos.
func Log(t *rapid.T) []pawl.Event {
	g := &logGen{t: t}
	g.add(pawl.SessionCreated{Dir: "/d"})
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		g.step()
	}
	return g.events
}
