package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// said are the words that are shown, the person's and the model's.
func said(l *Log) []string {
	var list []string
	for _, e := range l.Entries() {
		if e.Kind == transcript.KindUser || e.Kind == transcript.KindText {
			list = append(list, e.Text)
		}
	}
	return list
}

// counts are the words that count by the log itself.
func counts(events []pawl.Event) []string {
	var list []string
	words := map[pawl.Seq]string{}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		switch b := e.Body.(type) {
		case pawl.Prompted:
			words[e.Seq] = b.Parts.Text()
		case pawl.TurnStarted:
			list = append(list, words[b.Prompt])
		case pawl.Replied:
			list = append(list, b.Parts.Text())
		default:
		}
	}
	return list
}

// turn reports a prompt and its reply.
func (t *eventBuilder) turn(n int) {
	prompt := t.add(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: fmt.Sprint("prompt ", n)}}})
	t.add(pawl.TurnStarted{Prompt: prompt}, pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: fmt.Sprint("reply ", n)}}}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
}

// undo reports a step back or forward.
func (t *eventBuilder) undo(r pawl.Undo) {
	asked := t.add(pawl.UndoAsked{Undo: r})
	t.add(pawl.Undone{Asked: asked})
}

// TestWentBack: whatever people undo and bring back, what is shown is what
// counts, also if it is read page by page.
func TestWentBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		tl := newEventBuilder()
		var undos []pawl.Seq // that can be undone
		for n := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			var starts []pawl.Seq
			for e := range pawl.EffectiveEvents(pawl.SliceLog(tl.events), pawl.ScopeConversation) {
				if _, ok := e.Body.(pawl.TurnStarted); ok {
					starts = append(starts, e.Seq)
				}
			}
			switch what := rapid.IntRange(0, 3).Draw(rt, "what"); {
			case what == 1 && len(starts) > 0:
				tl.undo(pawl.Undo{To: rapid.SampledFrom(starts).Draw(rt, "to"), Scope: rapid.SampledFrom([]pawl.Scope{"", pawl.ScopeFiles}).Draw(rt, "scope")})
				undos = append(undos, tl.seq)
			case what == 2 && len(undos) > 0:
				tl.undo(pawl.Undo{Redo: undos[len(undos)-1]})
				undos = undos[:len(undos)-1]
			default:
				tl.turn(n)
				undos = nil
			}
		}
		want := counts(tl.events)
		l := NewLog()
		l.Read(tl.events)
		if diff := cmp.Diff(want, said(l)); diff != "" {
			rt.Fatalf("read at once: %s", diff)
		}
		at := rapid.IntRange(0, len(tl.events)-1).Draw(rt, "page")
		if _, ok := tl.events[at].Body.(pawl.Undone); ok {
			at++
		}
		l = NewLog()
		l.Read(tl.events[at:])
		if l.Prepend(tl.events[:at]); at < len(tl.events) {
			if diff := cmp.Diff(want, said(l)); diff != "" {
				rt.Fatalf("read in pages, from %d on first: %s", at, diff)
			}
		}
	})
}

// TestWentBackNote: it is said what happened to files that others have changed.
func TestWentBackNote(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.turn(1)
	asked := tl.add(pawl.UndoAsked{Undo: pawl.Undo{To: 2, Conflicts: pawl.ConflictsAside}})
	tl.add(pawl.Undone{Asked: asked, Changed: []string{"a", "b"}, Aside: map[string]string{"b": "/kept/b"}, Left: []string{"c"}})
	got := text(all(viewOf(t, tl, "plain", 120, 20)))
	for _, want := range []string{"2 files restored", "b had other changes, which are in /kept/b", "left unchanged: c"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if slices.ContainsFunc(said(tl.log()), func(s string) bool { return s == "prompt 1" }) {
		t.Error("the prompt is still there")
	}
}

// TestUndoKeepsPlace: an undo and a redo change neither what the user looks at nor
// what they opened.
func TestUndoKeepsPlace(t *testing.T) {
	t.Parallel()
	tl := long(100)
	turn := tl.seq + 2
	tl.turn(1)
	v := viewOf(t, tl, "plain", 60, 10)
	v.ToTop()
	v.Select(-40)
	v.Toggle()
	before, opened := seen(v), v.Selected()
	redo := tl.seq + 2
	for i, r := range []pawl.Undo{{To: turn}, {Redo: redo}} {
		done := len(tl.events)
		tl.undo(r)
		for _, e := range tl.events[done:] {
			v.Log.Apply(e)
		}
		if got := said(v.Log); (got[len(got)-1] == "reply 1") != (i == 1) {
			t.Errorf("step %d: the last words are %q", i, got[len(got)-1])
		}
		if diff := cmp.Diff(before, seen(v)); diff != "" || v.Selected() != opened || !v.isOpen(opened) {
			t.Errorf("step %d: it moved: %s", i, diff)
		}
	}
}
