package dialog

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Pane is a text that may be taller than its place. It knows how much of it was
// on the screen.
type Pane struct {
	lines  []string
	top    int
	height int
	seen   int
	width  int           // that the lines are made for
	look   *theme.Styles // likewise
}

// Fit has the text made anew if the width or the look is not the one that it was
// made for. What was seen to the end stays seen.
func (p *Pane) Fit(width int, look *theme.Styles, text func(width int) []string) {
	if p.lines != nil && p.width == width && p.look == look {
		return
	}
	all := p.seen > 0 && p.unseen() == 0
	p.lines, p.width, p.look, p.seen = text(width), width, look, 0
	if all {
		p.seen = len(p.lines)
	}
}

// Renew has the text made anew, for its words have changed: nothing of it was seen.
func (p *Pane) Renew() { p.lines, p.seen = nil, 0 }

// View returns what is shown in so many lines.
func (p *Pane) View(height int) []string {
	p.height = max(1, min(height, len(p.lines)))
	p.top = max(0, min(p.top, len(p.lines)-p.height))
	end := min(len(p.lines), p.top+p.height)
	p.seen = max(p.seen, end)
	return p.lines[p.top:end]
}

func (p *Pane) scroll(lines int) { p.top = max(0, min(p.top+lines, len(p.lines)-p.height)) }

// page is how far a page key goes: a line stays.
func (p *Pane) page() int { return max(1, p.height-1) }

// unseen is how many lines at the end were not on the screen yet.
func (p *Pane) unseen() int { return max(0, len(p.lines)-p.seen) }

// below is how many lines are under those that are shown.
func (p *Pane) below() int { return max(0, len(p.lines)-p.top-p.height) }

// broken breaks a text to a width. Nothing is dropped, blanks neither, and each
// line stands behind its own indent and bar: what the model wrote cannot come to
// stand where pawl's own words do.
func broken(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		if ansi.StringWidth(line) <= width {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, hung(line, width)...)
	}
	return lines
}

// hung breaks one line.
func hung(line string, width int) []string {
	prefix := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if strings.HasPrefix(line[len(prefix):], "| ") {
		prefix += "| "
	}
	if len(prefix) > width/2 {
		prefix = ""
	}
	var lines []string
	for rest := line[len(prefix):]; rest != ""; {
		n := fitting(rest, max(1, width-len(prefix)))
		lines = append(lines, prefix+rest[:n])
		rest = rest[n:]
	}
	return lines
}

// fitting is how many bytes of a text are put on a line: behind a blank, if there
// is one in its second half.
func fitting(text string, width int) int {
	some := text[:min(len(text), 64*width)] // more than a line has; a sign has a few bytes
	line, _, more := strings.Cut(ansi.Hardwrap(some, width, true), "\n")
	if blank := strings.LastIndexByte(line, ' ') + 1; more && blank > len(line)/2 {
		return blank
	}
	return max(1, len(line))
}

// worded breaks prose between words.
func worded(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		lines = append(lines, strings.Split(ansi.Wrap(line, width, ""), "\n")...)
	}
	return lines
}
