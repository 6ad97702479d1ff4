package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/humanize"

	"github.com/pawl-dev/pawl"
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
	switch {
	case b.Refused != "":
		l.note(ev, Warn, "Not undone: %s", b.Refused)
		return
	case known && r.Redo == 0 && r.Scope.Conversation() && !l.redoneSeqs[ev.Seq]:
		l.undoneSpans = append(l.undoneSpans, span{r.To, b.Asked})
		l.hide()
	}
	text := "Undone"
	if r.Redo != 0 {
		text = "Redone"
	}
	if n := len(b.Changed); n > 0 {
		text += fmt.Sprintf(", %s restored", humanize.Plural(n, "file"))
	}
	for _, path := range slices.Sorted(maps.Keys(b.Aside)) {
		text += fmt.Sprintf("; %s had other changes, which are in %s", path, b.Aside[path])
	}
	if len(b.Left) > 0 {
		text += "; left unchanged: " + strings.Join(b.Left, ", ")
	}
	l.note(ev, Quiet, "%s", text)
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
