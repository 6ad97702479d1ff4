package diff

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
)

func lineWidth(s string) int { return ansi.StringWidth(s) }

// sideBySide shows old lines at the left and new ones at the right. Removed lines are
// next to those that replace them.
func (p *printer) sideBySide(h hunk) {
	var left, right []row
	flush := func() {
		for i := range max(len(left), len(right)) {
			p.pairRow(at(left, i), at(right, i))
		}
		left, right = nil, nil
	}
	for _, r := range h.rows {
		switch r.sign {
		case '-':
			if len(right) > 0 {
				flush()
			}
			left = append(left, r)
		case '+':
			right = append(right, r)
		case '\\':
			flush()
			p.lines = append(p.lines, p.row(r, p.width)...)
		default:
			flush()
			p.pairRow(&r, &r)
		}
	}
	flush()
}

func at(rows []row, i int) *row {
	if i < len(rows) {
		return &rows[i]
	}
	return nil
}

// pairRow renders two rows side by side.
func (p *printer) pairRow(left, right *row) {
	half := (p.width - 3) / 2
	var a, b []layout.Line
	if right != nil && right.sign == ' ' {
		before := p.new // the line is tokenized twice but must advance the lexer once
		was := *left
		was.new = was.old
		a = p.row(was, half)
		p.new = before
		b = p.row(*right, half)
	} else {
		if left != nil {
			a = p.row(*left, half)
		}
		if right != nil {
			b = p.row(*right, half)
		}
	}
	bar := layout.Render(layout.Span{Text: " │ ", SGR: p.styles.muted})
	for i := range max(len(a), len(b)) {
		line := layout.Line{Text: padded(a, i, half) + bar + strings.TrimRight(padded(b, i, half), " "), Frame: p.digits + 3}
		p.lines = append(p.lines, line)
	}
}

// padded returns a line of one side, padded to its width.
func padded(lines []layout.Line, i, width int) string {
	if i >= len(lines) {
		return strings.Repeat(" ", width)
	}
	return lines[i].Text + strings.Repeat(" ", max(0, width-lineWidth(lines[i].Text)))
}
