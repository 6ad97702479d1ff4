package markdown

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
)

// maxRows bounds how much of a table is set anew as it grows: the columns of
// what follows are as wide as those before.
const maxRows = 60

// maxColumns bounds a table: a wider one is shown as it stands.
const maxColumns = 40

// isTable takes the line below a table's head.
func (s *setter) isTable(line string) bool {
	if s.open != paragraph || s.cut || !strings.Contains(s.text, "|") || strings.Trim(line, "|:- \t") != "" || !strings.Contains(line, "-") {
		return false
	}
	align := split(line)
	head := split(s.text)
	if len(align) != len(head) || len(head) > maxColumns {
		return false
	}
	s.text, s.open = "", table
	s.head, s.align, s.rows, s.sizes, s.bytes = head, align, nil, nil, 0
	return true
}

// row takes a row of a table.
func (s *setter) row(line string) {
	cells := split(line)
	for len(cells) < len(s.head) {
		cells = append(cells, "")
	}
	s.rows = append(s.rows, cells[:len(s.head)])
	if s.bytes += len(line); len(s.rows) >= maxRows || s.bytes > maxOpen {
		s.setTable()
	}
}

// split returns the cells of a row.
func split(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	var cells []string
	from, ticks := 0, false
	for i := range len(line) {
		switch {
		case line[i] == '`':
			ticks = !ticks
		case line[i] == '|' && (!ticks || strings.Count(line[i:], "`") == 0) && (i == 0 || line[i-1] != '\\'):
			cells = append(cells, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	return append(cells, strings.TrimSpace(line[from:]))
}

// setTable sets the rows that there are.
func (s *setter) setTable() {
	if s.sizes == nil {
		s.sizes = s.columns()
		s.setRow(s.head, layout.Bold)
		var line []string
		for _, n := range s.sizes {
			line = append(line, strings.Repeat("─", n))
		}
		s.put([]layout.Line{{Text: layout.Render(layout.Span{Text: strings.Join(line, "─┼─"), Ink: s.look.border})}})
	}
	for _, r := range s.rows {
		s.setRow(r, "")
	}
	s.rows, s.bytes = nil, 0
}

// columns returns how wide each column is: as its widest cell, and when they do
// not fit together, the widest give up most.
func (s *setter) columns() []int {
	sizes := make([]int, len(s.head))
	for _, r := range append([][]string{s.head}, s.rows...) {
		for i, c := range r {
			sizes[i] = max(sizes[i], layout.Width(s.inline(c, "")), 1)
		}
	}
	room := max(s.width-3*(len(sizes)-1), len(sizes))
	for sum(sizes) > room {
		sizes[slices.Index(sizes, slices.Max(sizes))]--
	}
	return sizes
}

func sum(list []int) int {
	n := 0
	for _, v := range list {
		n += v
	}
	return n
}

// setRow sets a row: as many lines as its longest cell needs.
func (s *setter) setRow(cells []string, ink layout.Ink) {
	columns := make([][]layout.Line, len(cells))
	height := 1
	for i, c := range cells {
		columns[i] = layout.Wrap(s.inline(c, s.look.text+ink), s.sizes[i], layout.Frame{})
		height = max(height, len(columns[i]))
	}
	for y := range height {
		var b strings.Builder
		for x, lines := range columns {
			if x > 0 {
				b.WriteString(layout.Render(layout.Span{Text: " │ ", Ink: s.look.border}))
			}
			text := ""
			if y < len(lines) {
				text = lines[y].Text
			}
			b.WriteString(s.aligned(text, x))
		}
		s.put([]layout.Line{{Text: b.String()}})
	}
}

// aligned fills a cell to its column.
func (s *setter) aligned(text string, column int) string {
	pad := max(0, s.sizes[column]-lineWidth(text))
	left := 0
	switch a := s.align[column]; {
	case strings.HasSuffix(a, ":") && strings.HasPrefix(a, ":"):
		left = pad / 2
	case strings.HasSuffix(a, ":"):
		left = pad
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", pad-left)
}
