package chat

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// span is a range of events, both ends in it.
type span struct{ from, to pawl.Seq }

func (s span) has(seq pawl.Seq) bool { return seq >= s.from && seq <= s.to }

// Read takes the events of a page, in order. A step back that is included again in the
// same page, or a newer one, hides nothing.
func (l *Log) Read(events []pawl.Event) {
	orders := map[pawl.Seq]pawl.Undo{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.UndoAsked:
			orders[e.Seq] = b.Undo
		case pawl.Undone:
			if r := orders[b.Asked]; r.Redo != 0 && b.Refused == "" {
				l.redoneSeqs[r.Redo] = true
			}
		default:
		}
	}
	for _, e := range events {
		l.Apply(e)
	}
}

// applyUndone hides what was undone. What comes back by a redo is read anew by
// whoever shows it.
func (l *Log) applyUndone(ev pawl.Event, b pawl.Undone) {
	r, known := l.undoRequests[b.Asked]
	if b.Refused == "" && known && r.Redo == 0 && r.Scope.Conversation() && !l.redoneSeqs[ev.Seq] {
		l.undoneSpans = append(l.undoneSpans, span{r.To, b.Asked})
		l.hide()
	}
	l.add(noteEntry(ev, transcript.UndoNote(pawl.UndoAsked{Undo: r}, b)))
}

// hide takes out what was undone. A prompt belongs where it was taken in.
func (l *Log) hide() {
	if len(l.undoneSpans) == 0 {
		return
	}
	l.entries = slices.DeleteFunc(l.entries, func(e *Entry) bool {
		return slices.ContainsFunc(l.undoneSpans, func(s span) bool { return e.Seq > 0 && s.has(e.Seq) || e.TakenAt > 0 && s.has(e.TakenAt) })
	})
}
