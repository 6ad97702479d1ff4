package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// point is a position in the conversation that does not depend on scrolling.
type point struct {
	entry *Entry
	line  int
	cell  int
}

// selection is a selection with the mouse.
type selection struct {
	from, to point
	held     bool // the button is down
	moved    bool // it is more than a click
}

// pointAt returns the position under the mouse.
func (v *View) pointAt(x, y int) (point, bool) {
	if len(v.rows) == 0 {
		return point{}, false
	}
	r := v.rows[min(max(y, 0), len(v.rows)-1)]
	return point{r.entry, r.line, max(0, x-1)}, true
}

func (v *View) mousePress(m tea.MouseClickMsg) {
	v.drag = selection{}
	if p, ok := v.pointAt(m.X, m.Y); ok && m.Button == tea.MouseLeft && m.Y < len(v.rows) {
		v.drag = selection{from: p, to: p, held: true}
	}
}

// mouseDrag extends the selection, and scrolls at the edges.
func (v *View) mouseDrag(m tea.MouseMotionMsg) {
	if !v.drag.held {
		return
	}
	switch {
	case m.Y <= 0:
		v.Scroll(-1)
	case m.Y >= v.height-1:
		v.Scroll(1)
	}
	if p, ok := v.pointAt(m.X, m.Y); ok {
		v.drag.moved = v.drag.moved || p != v.drag.from
		v.drag.to = p
	}
}

// mouseRelease ends the selection and returns its text, or toggles the clicked entry.
func (v *View) mouseRelease(tea.MouseReleaseMsg) string {
	if !v.drag.held {
		return ""
	}
	v.drag.held = false
	if v.drag.moved {
		return v.SelectedText()
	}
	p := v.drag.from
	v.drag = selection{}
	if p.line == 0 && foldable(p.entry) {
		v.leaveEnd(v.Log.Entries()) // the line stays under the mouse
		v.toggle(p.entry)
	}
	return ""
}

// foldable reports whether a click on an entry's first line toggles it.
func foldable(e *Entry) bool {
	return e.Call != nil || e.Kind == transcript.KindReasoning || folds(e)
}

// ordered returns the ends of the selection in order, and the indexes of their
// entries.
func (s selection) ordered(entries []*Entry) (from, to point, i, k int) {
	from, to = s.from, s.to
	i, k = slices.Index(entries, from.entry), slices.Index(entries, to.entry)
	if k < i || k == i && (to.line < from.line || to.line == from.line && to.cell < from.cell) {
		return to, from, k, i
	}
	return from, to, i, k
}

// cells returns the selected cells of a row.
func (s selection) cells(v *View, r row, line layout.Line) (left, right int, ok bool) {
	if !s.moved {
		return 0, 0, false
	}
	from, to, i, k := s.ordered(v.Log.Entries())
	if i < 0 || k < 0 {
		return 0, 0, false
	}
	left, right = line.Frame, ansi.StringWidth(line.Text)
	switch n := slices.Index(v.Log.Entries()[i:k+1], r.entry); {
	case n < 0, n == 0 && r.line < from.line, n == k-i && r.line > to.line:
		return 0, 0, false
	default:
		if n == 0 && r.line == from.line {
			left = max(left, from.cell)
		}
		if n == k-i && r.line == to.line {
			right = min(right, to.cell+1)
		}
	}
	return left, right, left < right
}

// SelectedText returns the original text of the selection: without frames, with broken
// lines joined.
func (v *View) SelectedText() string {
	entries := v.Log.Entries()
	from, to, i, k := v.drag.ordered(entries)
	if i < 0 || k < 0 {
		return ""
	}
	var texts []string
	for n := i; n <= k; n++ {
		lines := slices.Clone(v.lines(entries[n]))
		last := len(lines) - 1
		if n == k && to.line <= last {
			last = to.line
			lines[last].Text = ansi.Truncate(lines[last].Text, to.cell+1, "")
		}
		first := 0
		if n == i {
			if first = from.line; first > last {
				continue
			}
			lines[first].Text, lines[first].Frame = ansi.TruncateLeft(lines[first].Text, max(from.cell, lines[first].Frame), ""), 0
		}
		texts = append(texts, layout.Join(lines[first:last+1]))
	}
	return strings.Trim(strings.Join(texts, "\n\n"), "\n")
}
