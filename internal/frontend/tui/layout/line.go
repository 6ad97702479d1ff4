// Package layout breaks styled text into lines of a given width. Each line records how
// it joins the one before, so that the original text can be restored. The text must be
// sanitized already; see package sanitize.
package layout

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// SGR is the escape sequences that set a text style (select graphic rendition); "" is
// the terminal's default. Two values can be concatenated.
type SGR string

// SGROf returns the escape sequences of a style.
func SGROf(s lipgloss.Style) SGR {
	before, _, _ := strings.Cut(s.Inline(true).Render("x"), "x")
	return SGR(before)
}

// Styles that do not depend on the theme.
const (
	Bold      SGR = "\x1b[1m"
	Italic    SGR = "\x1b[3m"
	Underline SGR = "\x1b[4m"
	Strike    SGR = "\x1b[9m"
)

const resetSGR = "\x1b[m"

// Span is a piece of text with a style and an optional link.
type Span struct {
	Text string
	SGR  SGR
	Link string // see Linkable
}

// Joint says how a line continues the one before it.
type Joint int

// The joints.
const (
	Break Joint = iota // a line of its own
	Space              // the line before was broken at a space
	Word               // the line before was broken within a word
)

// Line is a line of the screen.
type Line struct {
	Text  string // with escape sequences
	Frame int    // cells at its left that are not text: bars, numbers, indents
	Joint Joint
}

// PlainText returns the text of the line, without frame and style.
func (l Line) PlainText() string { return ansi.Strip(ansi.TruncateLeft(l.Text, l.Frame, "")) }

// Join restores the text that lines were made of, without frames and trailing spaces.
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
		text := l.PlainText()
		if i+1 == len(lines) || lines[i+1].Joint != Word {
			text = strings.TrimRight(text, " ")
		}
		b.WriteString(text)
	}
	return b.String()
}

// Linkable reports whether a URL may be printed as a hyperlink: http or https,
// printable ASCII only.
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

// Render returns spans as one line of any width.
func Render(spans ...Span) string {
	var p writer
	for _, s := range spans {
		p.put(s.Text, s)
	}
	return p.take()
}

// Cut returns spans as one line, truncated to the width.
func Cut(width int, spans ...Span) string {
	return ansi.Truncate(Render(spans...), max(width, 0), "…")
}

// Fill returns spans as one line of exactly that width: truncated, or padded in the
// given style.
func Fill(width int, sgr SGR, spans ...Span) string {
	used := Width(spans)
	switch {
	case used > width:
		return Cut(width, spans...)
	case used < width:
		spans = append(spans[:len(spans):len(spans)], Span{Text: strings.Repeat(" ", width-used), SGR: sgr})
	}
	return Render(spans...)
}

// Width returns how many cells spans take.
func Width(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += width(s.Text)
	}
	return n
}

// width returns how many cells a text takes.
func width(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Tabs expands tabs to multiples of four cells.
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

// writer writes spans. It changes style and link only where they differ.
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

// reset ends the current style and link.
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

// take returns what was written, and empties the writer.
func (p *writer) take() string {
	p.reset()
	s := p.b.String()
	p.b.Reset()
	return s
}
