package textinput

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Row is a screen line: a range of characters.
type Row struct{ From, To int }

// tab is shown for a tab.
const tab = "    "

// shown returns what a character looks like. Invisible characters are shown as codes,
// so that nothing is hidden in what is sent.
func (c char) shown(width int) string {
	switch {
	case len(c.text) == 1 && c.text[0] >= ' ' && c.text[0] < 0x7f: // the usual case
		return c.text
	case c.fold:
		return ansi.Truncate(c.label(), width, "…")
	case c.text == "\t":
		return ansi.Truncate(tab, width, "")
	default:
		return ansi.Truncate(sanitize.Marked(c.text), width, "…")
	}
}

// Rows returns the lines at a width, at least one. Words are not broken if they fit.
func (b *Buffer) Rows(width int) []Row {
	if width = max(1, width); b.rowsWidth == width {
		return b.rows
	}
	rows := b.rows[:0]
	from, fits, x := 0, 0, 0 // fits is the position after the last blank
	for i := 0; i < len(b.chars); i++ {
		c := b.chars[i]
		if c.text == "\n" && !c.fold {
			rows = append(rows, Row{from, i})
			from, fits, x = i+1, i+1, 0
			continue
		}
		w := ansi.StringWidth(c.shown(width))
		if x+w > width && i > from && !c.blank() {
			to := i
			if fits > from {
				to = fits
			}
			rows = append(rows, Row{from, to})
			from, fits, x = to, to, b.width(to, i, width)
		}
		if x += w; c.blank() {
			fits = i + 1
		}
	}
	rows = append(rows, Row{from, len(b.chars)})
	b.rows, b.rowsWidth = rows, width
	return b.rows
}

// width returns how many cells a range takes.
func (b *Buffer) width(from, to, width int) int {
	x := 0
	for _, c := range b.chars[from:to] {
		x += ansi.StringWidth(c.shown(width))
	}
	return x
}

// Cursor returns the position of the cursor on the rows.
func (b *Buffer) Cursor(width int) (x, y int) {
	rows := b.Rows(width)
	for y+1 < len(rows) && rows[y+1].From <= b.at {
		y++
	}
	return min(b.width(rows[y].From, min(b.at, rows[y].To), width), width), y
}

// Vertical moves the cursor by rows, keeping its column. It returns false if there is
// no such row.
func (b *Buffer) Vertical(by, width int, extend bool) bool {
	rows := b.Rows(width)
	x, y := b.Cursor(width)
	if y+by < 0 || y+by >= len(rows) {
		return false
	}
	if b.column > 0 {
		x = b.column - 1
	}
	b.moveTo(b.index(rows, y+by, x, width), extend)
	b.column = x + 1
	return true
}

// index returns the character at a cell.
func (b *Buffer) index(rows []Row, y, x, width int) int {
	r := rows[y]
	at := r.From
	for w := 0; at < r.To; at++ {
		if w += ansi.StringWidth(b.chars[at].shown(width)); w > x {
			break
		}
	}
	if at == r.To && y+1 < len(rows) && rows[y+1].From == r.To && at > r.From {
		at-- // the position after it belongs to the next row
	}
	return at
}

// Click moves the cursor to a cell.
func (b *Buffer) Click(x, y, width int, extend bool) {
	rows := b.Rows(width)
	y = min(max(y, 0), len(rows)-1)
	b.Move(b.index(rows, y, max(0, x), width), extend)
}

// Mark is the style of a range.
type Mark struct {
	Range
	Style lipgloss.Style
}

// Draw renders the rows from, to. Of overlapping marks the last wins.
func (b *Buffer) Draw(width, from, to int, marks []Mark) []string {
	rows := b.Rows(width)
	lines := make([]string, 0, to-from)
	for _, r := range rows[max(0, from):min(to, len(rows))] {
		lines = append(lines, b.line(r, width, marks))
	}
	return lines
}

// Folds returns the folded pastes.
func (b *Buffer) Folds() []Range {
	var list []Range
	for i, c := range b.chars {
		if c.fold {
			list = append(list, Range{i, i + 1})
		}
	}
	return list
}

func (b *Buffer) line(r Row, width int, marks []Mark) string {
	var line, run strings.Builder
	style, x := -1, 0
	flush := func() {
		switch {
		case run.Len() == 0:
		case style < 0:
			line.WriteString(run.String())
		default:
			line.WriteString(marks[style].Style.Render(run.String()))
		}
		run.Reset()
	}
	for i := r.From; i < r.To; i++ {
		s := b.chars[i].shown(width)
		if x += ansi.StringWidth(s); x > width {
			break // a blank that does not fit
		}
		if m := markOf(marks, i); m != style {
			flush()
			style = m
		}
		run.WriteString(s)
	}
	flush()
	return line.String()
}

func markOf(marks []Mark, i int) int {
	for n := len(marks) - 1; n >= 0; n-- {
		if marks[n].From <= i && i < marks[n].To {
			return n
		}
	}
	return -1
}
