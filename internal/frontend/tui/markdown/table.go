package markdown

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
)

// maxRows bounds how many rows are rendered again as a table grows. Later rows keep
// the column widths.
const maxRows = 60

// maxColumns bounds a table; a wider one is shown literally.
const maxColumns = 40

// startTable handles the delimiter row below a table's header.
func (r *renderer) startTable(line string) bool {
	if r.open != paragraph || r.continued || !strings.Contains(r.text, "|") || strings.Trim(line, "|:- \t") != "" || !strings.Contains(line, "-") {
		return false
	}
	align := splitRow(line)
	head := splitRow(r.text)
	if len(align) != len(head) || len(head) > maxColumns {
		return false
	}
	r.text, r.open = "", table
	r.head, r.align, r.rows, r.widths, r.bytes = head, align, nil, nil, 0
	return true
}

// row handles a row of a table.
func (r *renderer) row(line string) {
	cells := splitRow(line)
	for len(cells) < len(r.head) {
		cells = append(cells, "")
	}
	r.rows = append(r.rows, cells[:len(r.head)])
	if r.bytes += len(line); len(r.rows) >= maxRows || r.bytes > maxOpen {
		r.emitTable()
	}
}

// splitRow returns the cells of a row.
func splitRow(line string) []string {
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

// emitTable renders the rows so far.
func (r *renderer) emitTable() {
	if r.widths == nil {
		r.widths = r.columnWidths()
		r.emitRow(r.head, layout.Bold)
		var line []string
		for _, n := range r.widths {
			line = append(line, strings.Repeat("─", n))
		}
		r.emit([]layout.Line{{Text: layout.Render(layout.Span{Text: strings.Join(line, "─┼─"), SGR: r.styles.border})}})
	}
	for _, row := range r.rows {
		r.emitRow(row, "")
	}
	r.rows, r.bytes = nil, 0
}

// columnWidths returns the width of each column: that of its widest cell; if they do
// not fit, the widest shrink most.
func (r *renderer) columnWidths() []int {
	sizes := make([]int, len(r.head))
	for _, row := range append([][]string{r.head}, r.rows...) {
		for i, c := range row {
			sizes[i] = max(sizes[i], layout.Width(r.inline(c, "")), 1)
		}
	}
	available := max(r.width-3*(len(sizes)-1), len(sizes))
	for sum(sizes) > available {
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

// emitRow renders a row on as many lines as its longest cell needs.
func (r *renderer) emitRow(cells []string, sgr layout.SGR) {
	columns := make([][]layout.Line, len(cells))
	height := 1
	for i, c := range cells {
		columns[i] = layout.Wrap(r.inline(c, r.styles.text+sgr), r.widths[i], layout.Frame{})
		height = max(height, len(columns[i]))
	}
	for y := range height {
		var b strings.Builder
		for x, lines := range columns {
			if x > 0 {
				b.WriteString(layout.Render(layout.Span{Text: " │ ", SGR: r.styles.border}))
			}
			text := ""
			if y < len(lines) {
				text = lines[y].Text
			}
			b.WriteString(r.alignCell(text, x))
		}
		r.emit([]layout.Line{{Text: b.String()}})
	}
}

// alignCell pads a cell to the column's width.
func (r *renderer) alignCell(text string, column int) string {
	pad := max(0, r.widths[column]-lineWidth(text))
	left := 0
	switch a := r.align[column]; {
	case strings.HasSuffix(a, ":") && strings.HasPrefix(a, ":"):
		left = pad / 2
	case strings.HasSuffix(a, ":"):
		left = pad
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", pad-left)
}
