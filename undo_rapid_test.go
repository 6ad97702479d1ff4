package pawl

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// goer is a scribe of a session with undo and redo. It has its own model of which
// events are undone: a copy of the state before each undo.
type goer struct {
	scribe
	gone  [2]map[Seq]bool // undone events, of the conversation and of the files
	steps []stepBack      // undos that can be redone
}

type stepBack struct {
	seq   Seq // of its Undone event
	scope Scope
	gone  [2]map[Seq]bool // the state before it
}

func drawUndos(t *rapid.T) *goer {
	g := &goer{scribe: scribe{results: map[CallID]string{}}, gone: [2]map[Seq]bool{{}, {}}}
	g.write(SessionCreated{Dir: "/project"})
	for range rapid.IntRange(0, 80).Draw(t, "events") {
		moves := g.moves()
		if !g.turn && len(g.waiting) == 0 {
			moves = append(moves, g.back, g.back, g.back)
			if len(g.steps) > 0 {
				moves = append(moves, g.forth, g.forth, g.forth)
			}
		}
		if g.turn {
			moves = append(moves, g.todo, g.mode)
		} else {
			moves = append(moves, g.shell)
		}
		if !g.asked && len(g.calls) == 0 {
			moves = append(moves, g.compact)
		}
		rapid.SampledFrom(moves).Draw(t, "move")(t)
		if g.turn {
			g.steps = nil // new work: no redo
		}
	}
	return g
}

func (g *goer) todo(*rapid.T) {
	g.write(TodosSet{Todos: []Todo{{Content: string(rune('a' + len(g.log)%26))}}})
}
func (g *goer) mode(t *rapid.T) {
	g.write(ModeChanged{Mode: rapid.SampledFrom([]string{"plan", "ask"}).Draw(t, "mode")})
}

// shell generates a command of the user, which may be rejected before it begins.
func (g *goer) shell(t *rapid.T) {
	g.write(ShellAsked{Command: "make"})
	asked := Seq(len(g.log))
	if rapid.IntRange(0, 3).Draw(t, "refused") > 0 {
		g.write(ShellStarted{Asked: asked})
		g.steps = nil // new work: no redo
	}
	g.write(ShellRan{Asked: asked, Status: CallDone, Result: Result{Content: "made"}})
}

func (g *goer) compact(t *rapid.T) {
	keep := rapid.SampledFrom(append(g.messages(), Seq(len(g.log)+1))).Draw(t, "keep")
	g.write(Compacted{Keep: keep, Text: "a summary", ModelUsage: ModelUsage{Model: "m"}})
}

// messages returns the messages of the conversation.
func (g *goer) messages() (list []Seq) {
	for _, e := range g.log {
		switch e.Body.(type) {
		case TurnStarted, Injected, Replied, ShellStarted:
			if !g.gone[0][e.Seq] {
				list = append(list, e.Seq)
			}
		default:
		}
	}
	return list
}

func (g *goer) back(t *rapid.T) {
	list := g.messages()
	if len(list) == 0 {
		return
	}
	r := Undo{To: rapid.SampledFrom(list).Draw(t, "to"), Scope: rapid.SampledFrom([]Scope{ScopeBoth, ScopeFiles, ScopeConversation}).Draw(t, "scope")}
	g.write(UndoAsked{Undo: r})
	asked := Seq(len(g.log))
	if rapid.IntRange(0, 4).Draw(t, "refused") == 0 {
		g.write(Undone{Asked: asked, Refused: "no"})
		return
	}
	before := [2]map[Seq]bool{maps.Clone(g.gone[0]), maps.Clone(g.gone[1])}
	for seq := r.To; seq < asked; seq++ {
		if r.Scope.Conversation() {
			g.gone[0][seq] = true
		}
		if r.Scope.Files() {
			g.gone[1][seq] = true
		}
	}
	g.write(Undone{Asked: asked, Changed: []string{"f"}})
	g.steps = append(g.steps, stepBack{Seq(len(g.log)), r.Scope, before})
}

func (g *goer) forth(*rapid.T) {
	last := g.steps[len(g.steps)-1]
	g.write(UndoAsked{Undo: Undo{Redo: last.seq, Scope: last.scope}})
	g.write(Undone{Asked: Seq(len(g.log)), Changed: []string{"f"}})
	g.gone = last.gone
	// Earlier undos can be redone again.
	g.steps = g.steps[:len(g.steps)-1]
}

// plainLog returns the log of a session without undo: it leaves out what was undone
// and adds what ends open prompts and turns. Titles fill the gaps in the numbers.
func (g *goer) plainLog(t *rapid.T) []Event {
	var h History
	var log []Event
	var ends []Body
	neutral := map[Seq]bool{}
	for i, e := range g.log {
		b := e.Body
		if r, ok := b.(UndoAsked); ok && r.Scope.Conversation() {
			neutral[e.Seq] = true
		}
		if r, ok := b.(Undone); ok && neutral[r.Asked] {
			neutral[e.Seq] = true
		}
		if g.gone[0][e.Seq] {
			if i == 0 || !g.gone[0][e.Seq-1] {
				ends = endsOf(&h)
			}
			b = SessionTitled{}
			if len(ends) > 0 {
				b, ends = ends[0], ends[1:]
			}
		} else if neutral[e.Seq] {
			b = SessionTitled{}
		}
		log = append(log, Event{Seq: e.Seq, Body: b})
		if err := h.Apply(log[i]); err != nil {
			t.Fatalf("the plain log: %v", err)
		}
	}
	if len(ends) > 0 {
		t.Fatalf("the plain log has no room for %v", ends)
	}
	return log
}

func endsOf(h *History) (ends []Body) {
	if h.Open() != nil {
		ends = append(ends, TurnFinished{})
	}
	for _, o := range h.Orders() {
		ends = append(ends, ShellRan{Asked: o.Seq, Status: CallCanceled})
	}
	for _, w := range h.Waiting() {
		ends = append(ends, Withdrawn{Prompt: w.Seq})
	}
	return ends
}

// view is the effective state of a history.
type view struct {
	Head       Seq
	Messages   []Message
	Waiting    []Seq
	Settings   Settings
	Todos      []Todo
	Open       bool
	Steps      int
	Orders     int
	Compaction Seq
	Seen       map[string]string
}

func viewOf(h *History) view {
	v := view{Head: h.Head(), Messages: h.Messages(), Settings: h.Settings(), Todos: h.Todos(), Open: h.Open() != nil, Orders: len(h.Orders()), Seen: h.seen}
	for _, w := range h.Waiting() {
		v.Waiting = append(v.Waiting, w.Seq)
	}
	if h.Open() != nil {
		v.Steps = len(h.Open().Steps)
	}
	if c := h.Compaction(); c != nil {
		v.Compaction = c.Seq
	}
	if len(v.Messages) == 0 {
		v.Messages = nil
	}
	return v
}

// TestGoneIsAsIfItHadNeverBeen checks that a session after an undo equals one in
// which the undone events never happened, except that numbers and IDs stay in use.
func TestGoneIsAsIfItHadNeverBeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawUndos(t)
		got, err := foldEvents(g.log)
		if err != nil {
			t.Fatal(err)
		}
		want, err := foldEvents(g.plainLog(t))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(viewOf(want), viewOf(got)); diff != "" {
			t.Fatalf("want -, got +: %s", diff)
		}
		var steps []Seq
		for _, s := range g.steps {
			if !g.gone[0][s.seq] {
				steps = append(steps, s.seq)
			}
		}
		var undos []Seq
		for _, r := range got.undos {
			undos = append(undos, r.seq)
		}
		if diff := cmp.Diff(steps, undos); diff != "" {
			t.Fatalf("what can be taken back: want -, got +: %s", diff)
		}
		checkUsedUp(t, g.log, got)
	})
}

// TestUndosBeforeAGoneTurn checks that an undo cannot be redone after a new turn,
// even if that turn is undone.
func TestUndosBeforeAGoneTurn(t *testing.T) {
	t.Parallel()
	h, err := foldEvents(logOf(
		prompted("one"), TurnStarted{Prompt: 2}, TurnFinished{},
		UndoAsked{Undo: Undo{To: 3, Scope: ScopeFiles}}, Undone{Asked: 5},
		prompted("two"), TurnStarted{Prompt: 7}, TurnFinished{},
		UndoAsked{Undo: Undo{To: 8}}, Undone{Asked: 10},
	))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]redoable{{11, Undo{To: 8}}}, h.undos, cmp.AllowUnexported(redoable{})); diff != "" {
		t.Error(diff)
	}
	var gone []Seq
	for seq := range h.Head() + 1 {
		if h.Undone(seq) {
			gone = append(gone, seq)
		}
	}
	if diff := cmp.Diff([]Seq{8, 9}, gone); diff != "" { // only the files of the first turn were undone, not its messages
		t.Error(diff)
	}
}

func checkUsedUp(t *rapid.T, log []Event, h *History) {
	turns, replies, compactions := 0, 0, 0
	for _, e := range log {
		switch b := e.Body.(type) {
		case TurnStarted:
			turns++
		case Replied:
			replies++
			for _, c := range b.Parts.Calls() {
				if !h.CallIDUsed(c.ID) {
					t.Fatalf("the id %s is free again", c.ID)
				}
			}
		case Compacted:
			compactions++
		default:
		}
	}
	if diff := cmp.Diff([]int{turns, replies, compactions}, []int{h.Turns(), h.Replies(), h.Compactions()}); diff != "" {
		t.Fatalf("counts: want -, got +: %s", diff)
	}
}

// TestGoingBackGrowsAsItFolds checks that applying events one by one, with a new fold
// after ErrRewound, equals folding all at once.
func TestGoingBackGrowsAsItFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawUndos(t)
		h := &History{}
		for i, e := range g.log {
			err := h.Apply(e)
			if errors.Is(err, ErrRewound) {
				h, err = foldEvents(g.log[:i+1])
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := foldEvents(g.log[:i+1])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(viewOf(want), viewOf(h)); diff != "" {
				t.Fatalf("after event %d: %s", e.Seq, diff)
			}
			if diff := cmp.Diff(want.undos, h.undos, cmp.AllowUnexported(redoable{})); diff != "" {
				t.Fatalf("after event %d: %s", e.Seq, diff)
			}
			checkUsedUp(t, g.log[:i+1], h)
		}
	})
}

// TestLive checks that EffectiveEvents yields what is not undone, for the
// conversation and for the files.
func TestLive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawUndos(t)
		for i, what := range []Scope{ScopeConversation, ScopeFiles} {
			var want, got []Seq
			for _, e := range g.log {
				if !g.gone[i][e.Seq] {
					want = append(want, e.Seq)
				}
			}
			for e, err := range EffectiveEvents(SliceLog(g.log), what) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e.Seq)
			}
			if !slices.Equal(want, got) {
				t.Fatalf("%s: want %v, got %v", what, want, got)
			}
		}
	})
}
