package dialog

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// maxWidth bounds the width of a dialog: longer lines are hard to read.
const maxWidth = 104

// Frame is a window with a title in its border.
type Frame struct {
	Styles *theme.Styles
	Tone   lipgloss.Style // of the border
	Title  string
	Right  string // at the right end of the title line
	Width  int    // of the screen
}

// Inner returns the width of its lines.
func (f Frame) Inner() int { return max(10, min(f.Width-2, maxWidth)-4) }

// Render draws the frame around lines. Long lines are truncated.
func (f Frame) Render(lines []string) string {
	inner := f.Inner()
	var b strings.Builder
	b.WriteString(f.head(inner) + "\n")
	side := f.Tone.Render("│")
	for _, line := range lines {
		line = ansi.Truncate(line, inner, "…")
		b.WriteString(side + " " + line + strings.Repeat(" ", inner-ansi.StringWidth(line)) + " " + side + "\n")
	}
	b.WriteString(f.Tone.Render("╰" + strings.Repeat("─", inner+2) + "╯"))
	return b.String()
}

func (f Frame) head(inner int) string {
	right := f.Right
	if right != "" {
		right = " " + ansi.Truncate(right, inner/2, "…") + " "
	}
	title := " " + ansi.Truncate(f.Title, max(1, inner-ansi.StringWidth(right)-2), "…") + " "
	fill := max(0, inner-ansi.StringWidth(title)-ansi.StringWidth(right))
	return f.Tone.Render("╭─") + f.Tone.Bold(true).Render(title) + f.Tone.Render(strings.Repeat("─", fill)) +
		f.Styles.Muted.Render(right) + f.Tone.Render("─╮")
}

// Hint is a key and what it does.
type Hint struct{ Key, Does string }

// Hints returns lines of hints, wrapped to the width. Hints are muted while the lock
// is active.
func Hints(s *theme.Styles, width int, active bool, hints ...Hint) []string {
	key := s.Accent
	if !active {
		key = s.Muted
	}
	var lines []string
	line := ""
	for _, h := range hints {
		if h.Key == "" {
			continue
		}
		part := key.Render(h.Key) + " " + s.Muted.Render(h.Does)
		switch {
		case line == "":
			line = part
		case ansi.StringWidth(line)+3+ansi.StringWidth(part) > width:
			lines = append(lines, line)
			line = part
		default:
			line += "   " + part
		}
	}
	return append(lines, line)
}
