package dialog

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Pane is a scrollable text. It records how much of it has been visible.
type Pane struct {
	lines  []string
	top    int
	height int
	seen   int
	width  int           // of the lines
	styles *theme.Styles // of the lines
}

// Fit renders the text again if the width or the theme has changed. A text that was
// seen to the end stays seen.
func (p *Pane) Fit(width int, styles *theme.Styles, text func(width int) []string) {
	if p.lines != nil && p.width == width && p.styles == styles {
		return
	}
	all := p.seen > 0 && p.unseen() == 0
	p.lines, p.width, p.styles, p.seen = text(width), width, styles, 0
	if all {
		p.seen = len(p.lines)
	}
}

// Renew discards the text, because it has changed: nothing of it counts as seen.
func (p *Pane) Renew() { p.lines, p.seen = nil, 0 }

// View returns the visible lines.
func (p *Pane) View(height int) []string {
	p.height = max(1, min(height, len(p.lines)))
	p.top = max(0, min(p.top, len(p.lines)-p.height))
	end := min(len(p.lines), p.top+p.height)
	p.seen = max(p.seen, end)
	return p.lines[p.top:end]
}

func (p *Pane) scroll(lines int) { p.top = max(0, min(p.top+lines, len(p.lines)-p.height)) }

// page returns how far a page key scrolls: one line stays visible.
func (p *Pane) page() int { return max(1, p.height-1) }

// unseen returns how many lines at the end were not visible yet.
func (p *Pane) unseen() int { return max(0, len(p.lines)-p.seen) }

// below returns how many lines are below the visible ones.
func (p *Pane) below() int { return max(0, len(p.lines)-p.top-p.height) }

// wrapText breaks a text to a width. It drops nothing, not even blanks, and repeats
// the indent and bar of each line, so that text of the model cannot stand where pawl's
// own text does.
func wrapText(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		if ansi.StringWidth(line) <= width {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, wrapLine(line, width)...)
	}
	return lines
}

// wrapLine breaks one line.
func wrapLine(line string, width int) []string {
	prefix := line[:len(line)-len(strings.TrimLeft(line, " "))]
	for _, b := range []string{"| ", "│ "} {
		if strings.HasPrefix(line[len(prefix):], b) {
			prefix += b
			break
		}
	}
	if ansi.StringWidth(prefix) > width/2 {
		prefix = ""
	}
	var lines []string
	for rest := line[len(prefix):]; rest != ""; {
		n := fitWidth(rest, max(1, width-ansi.StringWidth(prefix)))
		lines = append(lines, prefix+rest[:n])
		rest = rest[n:]
	}
	return lines
}

// fitWidth returns how many bytes fit on a line: up to a blank, if there is one in its
// second half.
func fitWidth(text string, width int) int {
	some := text[:min(len(text), 64*width)] // more than fits on a line
	line, _, more := strings.Cut(ansi.Hardwrap(some, width, true), "\n")
	if blank := strings.LastIndexByte(line, ' ') + 1; more && blank > len(line)/2 {
		return blank
	}
	return max(1, len(line))
}

// wrapWords breaks prose between words.
func wrapWords(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		lines = append(lines, strings.Split(ansi.Wrap(line, width, ""), "\n")...)
	}
	return lines
}
