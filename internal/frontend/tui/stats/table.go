package stats

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Sizes of a table, in cells.
const (
	minLabel = 12 // of the labels
	maxLabel = 30
	maxBar   = 24
	numbers  = 7 + 7 + 6 + 9 + 4 // columns in, out, cached, cost, and the gaps
	maxLines = 60                // of one table
)

// table draws sums with a bar for each, under a heading. If there is no space, it
// omits the bars first, then the numbers of tokens.
func (d *Dialog) table(name string, sums []sum, width int) []string {
	s, label := d.shared.Styles, d.totals.label()
	narrow := width < label+numbers
	bar := max(0, min(maxBar, width-label-numbers-1))
	if narrow {
		label = max(1, min(label, width-16))
	}
	head := fmt.Sprintf("%-*s %7s %7s %6s %9s", label, name, "in", "out", "cached", "cost")
	if narrow {
		head = fmt.Sprintf("%-*s %6s %8s", label, name, "cached", "cost")
	}
	lines := []string{"", s.Muted.Render(head)}
	var most int64
	for _, x := range sums {
		most = max(most, d.totals.weight(x))
	}
	for i, x := range sums {
		if i == maxLines {
			return append(lines, s.Muted.Render(fmt.Sprintf("… %d more", len(sums)-maxLines)))
		}
		line := pad(x.key, label) + fmt.Sprintf(" %7s %7s %5d%% %9s ", humanize.Short(x.read()), humanize.Short(x.Output), x.cached(), humanize.Dollars(x.Cost))
		if narrow {
			line = pad(x.key, label) + fmt.Sprintf(" %5d%% %8s", x.cached(), humanize.Dollars(x.Cost))
		} else if bar > 4 {
			line += s.Accent.Render(drawn(d.totals.weight(x), most, bar))
		}
		lines = append(lines, line)
	}
	return lines
}

// label returns the width of the labels, the same in all tables.
func (t totals) label() int {
	width := minLabel
	for _, x := range t.models {
		width = max(width, min(maxLabel, ansi.StringWidth(sanitize.Line(x.key))))
	}
	return width
}

// pad makes an untrusted name exactly that wide. A long one is truncated at its
// beginning, because the end is more specific.
func pad(name string, width int) string {
	name = sanitize.Line(name)
	if name == "" {
		name = "(none)"
	}
	if over := ansi.StringWidth(name) - width; over > 0 {
		name = ansi.TruncateLeft(name, over+1, "…")
	}
	return name + strings.Repeat(" ", max(0, width-ansi.StringWidth(name)))
}

// drawn draws n as a part of most. Anything above zero is visible.
func drawn(n, most int64, width int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	eighths := max(1, int(float64(n)/float64(most)*float64(width)*8))
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return text
}
