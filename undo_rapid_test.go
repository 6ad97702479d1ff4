package pawl

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// undoScribe is a scribe that also generates undos and redos. It has its own model of which
// events are undone: a copy of the state before each undo.
type undoScribe struct {
	scribe
	undone [2]map[Seq]bool // undone events, of the conversation and of the files
	steps  []undoStep      // undos that can be redone
}

type undoStep struct {
	seq    Seq // of its Undone event
	scope  Scope
	undone [2]map[Seq]bool // the state before it
}

func drawUndos(t *rapid.T) *undoScribe {
	g := &undoScribe{scribe: scribe{results: map[CallID]string{}}, undone: [2]map[Seq]bool{{}, {}}}
	g.write(SessionCreated{Dir: "/project"})
	for range rapid.IntRange(0, 80).Draw(t, "events") {
		moves := g.moves()
		if !g.turn && len(g.waiting) == 0 {
			moves = append(moves, g.undo, g.undo, g.undo)
			if len(g.steps) > 0 {
				moves = append(moves, g.redo, g.redo, g.redo)
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

func (g *undoScribe) todo(*rapid.T) {
	g.write(TodosSet{Todos: []Todo{{Content: string(rune('a' + len(g.log)%26))}}})
}
func (g *undoScribe) mode(t *rapid.T) {
	g.write(ModeChanged{Mode: rapid.SampledFrom([]string{"plan", "ask"}).Draw(t, "mode")})
}

// shell generates a command of the user, which may be rejected before it begins.
func (g *undoScribe) shell(t *rapid.T) {
	g.write(ShellAsked{Command: "make"})
	asked := Seq(len(g.log))
	if rapid.IntRange(0, 3).Draw(t, "refused") > 0 {
		g.write(ShellStarted{Asked: asked})
		g.steps = nil // new work: no redo
	}
	g.write(ShellRan{Asked: asked, Status: CallDone, Result: Result{Content: "made"}})
}

func (g *undoScribe) compact(t *rapid.T) {
	keep := rapid.SampledFrom(append(g.messages(), Seq(len(g.log)+1))).Draw(t, "keep")
	g.write(Compacted{Keep: keep, Text: "a summary", ModelUsage: ModelUsage{Model: "m"}})
}

// messages returns the messages of the conversation.
func (g *undoScribe) messages() (list []Seq) {
	for _, e := range g.log {
		switch e.Body.(type) {
		case TurnStarted, Injected, Replied, ShellStarted:
			if !g.undone[0][e.Seq] {
				list = append(list, e.Seq)
			}
		default:
		}
	}
	return list
}

func (g *undoScribe) undo(t *rapid.T) {
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
	before := [2]map[Seq]bool{maps.Clone(g.undone[0]), maps.Clone(g.undone[1])}
	for seq := r.To; seq < asked; seq++ {
		if r.Scope.Conversation() {
			g.undone[0][seq] = true
		}
		if r.Scope.Files() {
			g.undone[1][seq] = true
		}
	}
	g.write(Undone{Asked: asked, Changed: []string{"f"}})
	g.steps = append(g.steps, undoStep{Seq(len(g.log)), r.Scope, before})
}

func (g *undoScribe) redo(*rapid.T) {
	last := g.steps[len(g.steps)-1]
	g.write(UndoAsked{Undo: Undo{Redo: last.seq, Scope: last.scope}})
	g.write(Undone{Asked: Seq(len(g.log)), Changed: []string{"f"}})
	g.undone = last.undone
	// Earlier undos can be redone again.
	g.steps = g.steps[:len(g.steps)-1]
}

// plainLog returns the log of a session without undo: it leaves out what was undone
// and adds what ends open prompts and turns. Titles fill the gaps in the numbers.
func (g *undoScribe) plainLog(t *rapid.T) []Event {
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
		if g.undone[0][e.Seq] {
			if i == 0 || !g.undone[0][e.Seq-1] {
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

// TestUndoneEventsHaveNoEffect checks that a session after an undo equals one in
// which the undone events never happened, except that numbers and IDs stay in use.
func TestUndoneEventsHaveNoEffect(t *testing.T) {
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
			if !g.undone[0][s.seq] {
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

// TestUndosBeforeAnUndoneTurn checks that an undo cannot be redone after a new turn,
// even if that turn is undone.
func TestUndosBeforeAnUndoneTurn(t *testing.T) {
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
	var undone []Seq
	for seq := range h.Head() + 1 {
		if h.Undone(seq) {
			undone = append(undone, seq)
		}
	}
	if diff := cmp.Diff([]Seq{8, 9}, undone); diff != "" { // only the files of the first turn were undone, not its messages
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

// TestUndoFoldsIncrementally checks that applying events one by one, with a new fold
// after ErrRewound, equals folding all at once.
func TestUndoFoldsIncrementally(t *testing.T) {
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

// TestEffectiveEvents checks that EffectiveEvents yields what is not undone, for the
// conversation and for the files.
func TestEffectiveEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawUndos(t)
		for i, what := range []Scope{ScopeConversation, ScopeFiles} {
			var want, got []Seq
			for _, e := range g.log {
				if !g.undone[i][e.Seq] {
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
