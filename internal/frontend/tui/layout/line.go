// Package layout lays text out in lines: pieces that have a look are broken to a
// width, and each line knows how the text is had back that it was made of. What
// it is given must be safe to show already; see package plain.
package layout

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Ink is what is printed before a text to give it a look; "" is the terminal's own.
// Two inks after each other are both.
type SGR string

// InkOf returns the ink of a style.
func SGROf(s lipgloss.Style) SGR {
	before, _, _ := strings.Cut(s.Inline(true).Render("x"), "x")
	return SGR(before)
}

// The inks that every theme has.
const (
	Bold      SGR = "\x1b[1m"
	Italic    SGR = "\x1b[3m"
	Underline SGR = "\x1b[4m"
	Strike    SGR = "\x1b[9m"
)

const resetSGR = "\x1b[m"

// Span is a piece of text with a look, and perhaps the address that it leads to.
type Span struct {
	Text string
	SGR  SGR
	Link string // see Linkable
}

// Joint says how a line follows the one before it.
type Joint int

// The joints.
const (
	Break Joint = iota // it is a line of its own
	Space              // the line before was broken at a space
	Word               // the line before was broken within a word
)

// Line is a line of the screen.
type Line struct {
	Text  string // as it is printed
	Frame int    // cells at its left that are no text: bars, numbers, indents
	Joint Joint
}

// Plain returns what the line says, without frame and look.
func (l Line) Plain() string { return ansi.Strip(ansi.TruncateLeft(l.Text, l.Frame, "")) }

// Join returns the text that lines were made of: without frames, with what was
// broken put together again, and without blanks at the ends of lines.
func Join(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		switch {
		case i == 0:
		case l.Joint == Break:
			b.WriteByte('\n')
		case l.Joint == Space:
			b.WriteByte(' ')
		}
		text := l.Plain()
		if i+1 == len(lines) || lines[i+1].Joint != Word {
			text = strings.TrimRight(text, " ")
		}
		b.WriteString(text)
	}
	return b.String()
}

// Linkable reports whether an address may be printed as a link: http and https,
// in ASCII that shows.
func Linkable(url string) bool {
	lower := strings.ToLower(url[:min(len(url), 8)])
	if len(url) > 2000 || !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
		return false
	}
	for i := range len(url) {
		if url[i] <= ' ' || url[i] > '~' {
			return false
		}
	}
	return true
}

// Render prints spans on one line, of any width.
func Render(spans ...Span) string {
	var p writer
	for _, s := range spans {
		p.put(s.Text, s)
	}
	return p.take()
}

// Cut prints spans on one line of at most so many cells.
func Cut(width int, spans ...Span) string {
	return ansi.Truncate(Render(spans...), max(width, 0), "…")
}

// Fill prints spans on a line of exactly so many cells: what is over is cut, what
// is missing is filled in the given ink.
func Fill(width int, ink SGR, spans ...Span) string {
	used := Width(spans)
	switch {
	case used > width:
		return Cut(width, spans...)
	case used < width:
		spans = append(spans[:len(spans):len(spans)], Span{Text: strings.Repeat(" ", width-used), SGR: ink})
	}
	return Render(spans...)
}

// Width is how many cells spans take.
func Width(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += width(s.Text)
	}
	return n
}

// width is how many cells a text takes.
func width(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Tabs puts spaces in the place of tabs, up to the next fourth cell.
func Tabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	at := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := 4 - at%4
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
		b.WriteString(part)
		at += width(part)
	}
	return b.String()
}

// pen prints spans and changes the look only where it differs.
type writer struct {
	b    strings.Builder
	sgr  SGR
	link string
}

func (p *writer) put(text string, s Span) {
	if text == "" {
		return
	}
	if s.Link != p.link {
		p.reset()
		if s.Link != "" && Linkable(s.Link) {
			p.b.WriteString(ansi.SetHyperlink(s.Link))
			p.link = s.Link
		}
	}
	if s.SGR != p.sgr {
		if p.sgr != "" {
			p.b.WriteString(resetSGR)
		}
		p.b.WriteString(string(s.SGR))
		p.sgr = s.SGR
	}
	p.b.WriteString(text)
}

// lift ends the look and the link.
func (p *writer) reset() {
	if p.sgr != "" {
		p.b.WriteString(resetSGR)
		p.sgr = ""
	}
	if p.link != "" {
		p.b.WriteString(ansi.ResetHyperlink())
		p.link = ""
	}
}

// end returns what was printed, and begins anew.
func (p *writer) take() string {
	p.reset()
	s := p.b.String()
	p.b.Reset()
	return s
}
