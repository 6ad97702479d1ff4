package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// client holds the items of a front end that knows only changes.
type client map[string]Item

func (v client) apply(t rapid.TB, c Change) {
	t.Helper()
	for _, it := range c.Items {
		v[it.ID] = it
	}
	for _, id := range c.Removed {
		delete(v, id)
	}
	for _, a := range c.Appended {
		it, ok := v[a.ID]
		if !ok {
			t.Fatalf("text was appended to %s, which is not shown", a.ID)
		}
		it.Text += a.Text
		v[a.ID] = it
	}
}

func (v client) items() []Item {
	list := make([]Item, 0, len(v))
	for _, it := range v {
		list = append(list, it)
	}
	slices.SortFunc(list, Compare)
	return list
}

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
	switch g.number(6) {
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
	}
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
	g.turn++
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
		g.add(pawl.Progress{Call: id, Text: strings.Repeat("é", maxOutput)})
	}
	g.add(pawl.Spawned{Call: id, Subagent: pawl.SessionID("s" + id), Background: g.chance()})
	g.add(pawl.TodosSet{Call: id, Todos: []pawl.Todo{{ID: "1"}}})
	if g.chance() {
		g.add(pawl.CallFinished{Call: id, Status: pawl.CallDone, Result: pawl.Result{Content: "ok", IsError: g.chance()}})
	}
	g.add(pawl.Status{State: "notice", Message: "a hook"})
	g.add(pawl.Injected{Source: "task", Subagent: pawl.SessionID("s" + id), Text: "found"})
}

func randomLog(t *rapid.T) []pawl.Event {
	g := &logGen{t: t}
	g.add(pawl.SessionCreated{Dir: "/d"})
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		g.step()
	}
	return g.events
}

// TestChanges checks that a client that applies the changes has the same items after each event.
func TestChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr, v := New(), client{}
		for i, e := range randomLog(t) {
			v.apply(t, tr.Apply(e))
			if diff := cmp.Diff(tr.Items(), v.items(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after event %d (%T): transcript -, client +\n%s", i, e.Body, diff)
			}
		}
	})
}

// takenBy returns the events with which the model read the prompts.
func takenBy(events []pawl.Event) map[pawl.Seq]pawl.Seq {
	taken := map[pawl.Seq]pawl.Seq{}
	for _, e := range events {
		if b, ok := e.Body.(pawl.TurnStarted); ok {
			taken[b.Prompt] = e.Seq
		}
	}
	return taken
}

// TestUndone checks the items against those of the events that were not undone. A prompt is undone
// with the event that started its turn.
func TestUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := slices.DeleteFunc(randomLog(t), func(e pawl.Event) bool { return e.Seq == 0 })
		all, effective := New(), New()
		for _, e := range events {
			all.Apply(e)
		}
		kept := map[pawl.Seq]bool{0: true}
		for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
			kept[e.Seq] = true
		}
		taken := takenBy(events)
		for _, e := range events {
			if kept[e.Seq] && kept[taken[e.Seq]] {
				effective.Apply(e)
			}
		}
		if diff := cmp.Diff(effective.Items(), all.Items()); diff != "" {
			t.Fatalf("effective events -, all events +\n%s", diff)
		}
	})
}

// TestKinds checks that every event changes something, except those about the session.
func TestKinds(t *testing.T) {
	t.Parallel()
	before := map[pawl.Kind][]pawl.Body{
		"reworded": {pawl.Prompted{}}, "withdrawn": {pawl.Prompted{}}, "answered": {pawl.Asked{}}, "delta": {pawl.ReplyStarted{}}, "progress": {pawl.CallStarted{Call: "c"}},
	}
	data := map[pawl.Kind]string{
		"reworded": `{"prompt":1,"parts":[]}`, "withdrawn": `{"prompt":1}`, "answered": `{"ask":1,"outcome":"denied"}`,
		"delta": `{"reply":1,"channel":"text","offset":0,"text":"x"}`, "progress": `{"call":"c","text":"x"}`,
		"replied": `{"parts":[{"type":"text","text":"x"}]}`,
	}
	silent := []pawl.Kind{"session.created", "session.titled", "session.summarized", "reply.started", "undo.asked"}
	for _, kind := range pawl.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			tr := New()
			for i, b := range before[kind] {
				tr.Apply(pawl.Event{Seq: pawl.Seq(i + 1), Body: b})
			}
			json := data[kind]
			if json == "" {
				json = "{}"
			}
			b, err := kind.Decode(1, []byte(json))
			if err != nil {
				t.Fatal(err)
			}
			c := tr.Apply(pawl.Event{Seq: pawl.Seq(len(before[kind]) + 1), Body: b})
			if n := len(c.Items) + len(c.Removed) + len(c.Appended); (n == 0) != slices.Contains(silent, kind) {
				t.Errorf("%d changes: %+v", n, c)
			}
		})
	}
}

// TestJoin checks that a client that joins late gets the draft, and the same item afterwards.
func TestJoin(t *testing.T) {
	t.Parallel()
	tr := New()
	tr.Apply(pawl.Event{Seq: 1, Body: pawl.ReplyStarted{}})
	tr.Apply(pawl.Event{Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: 5, Text: " world"}})
	if !tr.Missed() || tr.Missed() {
		t.Error("a gap must be reported once")
	}
	tr.Join(pawl.Draft{Reply: 1, Text: "hello world"})
	tr.Apply(pawl.Event{Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: 11, Text: "!"}})
	it := tr.Items()[0]
	if it.Text != "hello world!" || it.State != StateStreaming {
		t.Errorf("%+v", it)
	}
	tr.Apply(pawl.Event{Seq: 2, Body: pawl.Replied{Parts: text("hello world!!")}})
	if end := tr.Items()[0]; end.ID != it.ID || end.Text != "hello world!!" || end.State != StateDone {
		t.Errorf("%+v", end)
	}
}
