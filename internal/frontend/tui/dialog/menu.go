package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// cursorMark precedes the option under the cursor.
const cursorMark = "❯ "

// menu is a numbered list of choices.
type menu struct {
	items  []menuItem
	cursor int
	rows   []int // the choice of each line, as it was drawn last
	top    int   // the first line in the window, as it was drawn last
	short  bool  // each choice has one line, without its detail
}

// menuItem is a choice. The detail is untrusted and sanitized.
type menuItem struct {
	label, detail string
	do            func() tea.Cmd
}

// key handles a key: arrows move, Enter and numbers choose. It reports whether the key is the menu's.
func (m *menu) key(k *keys.Map, name string) (tea.Cmd, bool) {
	switch k.Action(keys.Dialog, name) {
	case keys.Up:
		m.cursor = max(0, m.cursor-1)
		return nil, true
	case keys.Down:
		m.cursor = min(len(m.items)-1, m.cursor+1)
		return nil, true
	case keys.Choose:
		return m.choose(m.cursor), true
	default:
	}
	if n, ok := m.number(name); ok {
		return m.choose(n), true
	}
	return nil, false
}

// number returns the choice that a key numbers.
func (m *menu) number(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n - 1, err == nil && len(name) == 1 && n >= 1 && n <= len(m.items)
}

func (m *menu) choose(n int) tea.Cmd {
	m.cursor = n
	return m.items[n].do()
}

// click chooses what is in a line of the window.
func (m *menu) click(line int) tea.Cmd {
	if i := line - m.top; i >= 0 && i < len(m.rows) {
		return m.choose(m.rows[i])
	}
	return nil
}

// view draws the choices. Without the keyboard none is marked.
func (m *menu) view(s *theme.Styles, width int, focused bool) []string {
	var lines []string
	m.rows = m.rows[:0]
	for i, item := range m.items {
		selected := focused && i == m.cursor
		for _, line := range m.item(s, width, i, item, selected) {
			lines = append(lines, line)
			m.rows = append(m.rows, i)
		}
	}
	return lines
}

// item draws a choice: its detail follows the label, or stands below it.
func (m *menu) item(s *theme.Styles, width, i int, item menuItem, selected bool) []string {
	mark, style, detail := "  ", s.Text, s.Muted
	if selected {
		mark, style, detail = cursorMark, s.Selected.Bold(true), s.Selected
	}
	head := mark + strconv.Itoa(i+1) + "  "
	if m.short {
		head, item.detail = mark+strconv.Itoa(i+1)+" ", ""
		item.label = ansi.Truncate(item.label, max(1, width-ansi.StringWidth(head)), "…")
	}
	indent := strings.Repeat(" ", ansi.StringWidth(head))
	var lines []string
	for n, line := range wrapWords(item.label, max(1, width-len(indent))) {
		if n == 0 {
			line = head + line
		} else {
			line = indent + line
		}
		lines = append(lines, style.Render(line))
	}
	if item.detail != "" {
		last := len(lines) - 1
		if ansi.StringWidth(lines[last])+2+ansi.StringWidth(item.detail) <= width {
			lines[last] += detail.Render("  " + item.detail)
		} else {
			for _, line := range wrapText(indent+item.detail, width) {
				lines = append(lines, detail.Render(line))
			}
		}
	}
	for n, line := range lines {
		if missing := width - ansi.StringWidth(line); selected && missing > 0 {
			lines[n] += detail.Render(strings.Repeat(" ", missing))
		}
	}
	return lines
}
