package picker

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Sizes of a picker, in cells.
const (
	maxWidth    = 110
	frameWidth  = 4  // border and padding on both sides
	frameHeight = 2  // border
	headHeight  = 2  // query and a blank line
	footHeight  = 2  // blank line and the keys
	sideBySide  = 84 // from this width on, the preview is beside the list
	minRows     = 3
)

// area is the position of the rows on the screen.
type area struct{ x, y, width, height int }

// View draws the picker in at most that many cells.
func (p *Picker) View(width, height int) string {
	inner := max(8, min(width-4, maxWidth)-frameWidth)
	available := max(1, height-2-frameHeight-headHeight-footHeight)
	body := p.body(inner, available)
	lines := append([]string{p.head(inner), ""}, body...)
	lines = append(lines, "", p.foot(inner))
	frame := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).BorderForeground(p.shared.Styles.Accent.GetForeground()).
		Padding(0, 1).Width(inner + frameWidth).Render(strings.Join(lines, "\n"))
	x, y := max(0, (width-lipgloss.Width(frame))/2), max(0, (height-lipgloss.Height(frame))/2)
	p.area = area{x + 2, y + 1 + headHeight, p.area.width, p.listed}
	return frame
}

// body returns the list, and the preview beside or below it.
func (p *Picker) body(width, available int) []string {
	preview := p.preview()
	all := p.height()
	switch {
	case preview == nil:
		p.area.width = width
		return p.list(width, min(available, all))
	case width >= sideBySide:
		left := width * 2 / 5
		p.area.width = left
		rows := min(available, max(all, 12))
		return beside(p.list(left, rows), cut(preview(width-left-3, rows), width-left-3, rows), left, p.shared.Styles.Border.Render(" │ "))
	default:
		p.area.width = width
		below := min(8, available/3)
		list := p.list(width, min(available-below-1, all))
		list = append(list, p.shared.Styles.Border.Render(strings.Repeat("─", width)))
		shown := cut(preview(width, below), width, below)
		for len(shown) < below {
			shown = append(shown, "")
		}
		return append(list, shown...)
	}
}

// height returns the number of rows without a query, so that the window keeps its size
// while typing.
func (p *Picker) height() int {
	n, group := len(p.items), ""
	for _, it := range p.items {
		if it.Group != group {
			group = it.Group
			n++
		}
		if n > 1000 { // more than any screen has
			break
		}
	}
	return max(minRows, n)
}

func (p *Picker) preview() func(width, height int) string {
	if p.at < len(p.rows) && p.rows[p.at].item >= 0 {
		return p.items[p.rows[p.at].item].Preview
	}
	return nil
}

// cut truncates a preview to its space.
func cut(text string, width, height int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > height {
		lines = lines[:height]
	}
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, width, "…")
	}
	return lines
}

func beside(left, right []string, width int, between string) []string {
	for i, l := range left {
		l += strings.Repeat(" ", max(0, width-ansi.StringWidth(l))) + between
		if i < len(right) {
			l += right[i]
		}
		left[i] = l
	}
	return left
}

// head returns the title, the query and the number of matches.
func (p *Picker) head(width int) string {
	s := p.shared.Styles
	count := fmt.Sprintf("%d/%d", p.fits, len(p.items))
	line := s.Bold.Render(sanitize.Line(p.title)) + "  " + s.Accent.Render("›") + " " + sanitize.Line(p.query) + s.Accent.Render("▏")
	line = ansi.Truncate(line, max(0, width-len(count)-1), "…")
	return line + strings.Repeat(" ", max(1, width-ansi.StringWidth(line)-len(count))) + s.Muted.Render(count)
}

// foot returns the key hints.
func (p *Picker) foot(width int) string {
	s := p.shared.Styles
	style := s.Accent
	if p.opts.Active != nil && !p.opts.Active() {
		style = s.Muted
	}
	var hints []string
	hint := func(key, help string) {
		if key != "" {
			hints = append(hints, style.Render(key)+" "+s.Muted.Render(help))
		}
	}
	hint(p.shared.Keys.Key(keys.Choose), "choose")
	for _, k := range p.opts.Keys {
		hint(k.Key, k.Help)
	}
	hint(p.shared.Keys.Key(keys.Close), "close")
	return ansi.Truncate(strings.Join(hints, "   "), width, "…")
}

// list draws the visible rows.
func (p *Picker) list(width, height int) []string {
	height = max(1, height)
	p.listed = height
	p.top = min(max(p.top, p.at-height+1), p.at)
	if p.top == 1 && p.rows[0].item < 0 && p.at < height {
		p.top = 0 // show the heading above the first item
	}
	p.top = max(0, min(p.top, len(p.rows)-height))
	lines := make([]string, height)
	q := NewQuery(p.query)
	for i := range lines {
		if n := p.top + i; n < len(p.rows) {
			lines[i] = p.line(q, n, width)
		}
	}
	if len(p.rows) == 0 {
		lines[0] = p.shared.Styles.Muted.Render(ansi.Truncate(p.nothing(), width, "…"))
	}
	return lines
}

func (p *Picker) nothing() string {
	switch {
	case len(p.items) > 0:
		return "No matches"
	case p.opts.Empty != "":
		return sanitize.Line(p.opts.Empty)
	default:
		return "Nothing here yet"
	}
}

// line draws one row.
func (p *Picker) line(q Query, n, width int) string {
	s := p.shared.Styles
	r := p.rows[n]
	if r.item < 0 {
		return s.Muted.Render(ansi.Truncate(sanitize.Line(r.group), width, "…"))
	}
	it := p.items[r.item]
	chosen := n == p.at
	mark := "  "
	if chosen {
		mark = "› "
	}
	title := ansi.Truncate(Highlight(p.titles[r.item], q, s.Accent.Underline(true)), width-2, "…")
	used := 2 + ansi.StringWidth(title)
	detail := sanitize.Line(it.Detail)
	if available := width - used - 2; available < 4 {
		detail = ""
	} else {
		detail = ansi.Truncate(detail, available, "…")
	}
	gap := strings.Repeat(" ", max(0, width-used-ansi.StringWidth(detail)))
	if chosen {
		return s.Selected.Render(ansi.Strip(mark + title + gap + detail))
	}
	return mark + title + gap + s.Muted.Render(detail)
}

// Highlight sanitizes untrusted text and marks the matched letters.
func Highlight(text []rune, q Query, found lipgloss.Style) string {
	if q.Empty() {
		return sanitize.Line(string(text))
	}
	at := q.Positions(text)
	var b, marked strings.Builder
	flush := func() {
		if marked.Len() > 0 {
			b.WriteString(found.Render(marked.String()))
			marked.Reset()
		}
	}
	for i, r := range text {
		if at[i] {
			marked.WriteString(sanitize.Line(string(r)))
			continue
		}
		flush()
		b.WriteString(sanitize.Line(string(r)))
	}
	flush()
	return b.String()
}

func (p *Picker) wheel(m tea.MouseWheelMsg) {
	switch m.Button {
	case tea.MouseWheelUp:
		p.move(-3)
	case tea.MouseWheelDown:
		p.move(3)
	default:
	}
}

// click selects the row under the mouse. It returns true if it was selected already: a
// second click chooses.
func (p *Picker) click(m tea.MouseClickMsg) bool {
	n := p.top + m.Y - p.area.y
	inside := m.X >= p.area.x && m.X < p.area.x+p.area.width && m.Y >= p.area.y && m.Y < p.area.y+p.area.height
	if m.Button != tea.MouseLeft || !inside || n >= len(p.rows) || p.rows[n].item < 0 {
		return false
	}
	again := n == p.at
	p.at = n
	return again
}
