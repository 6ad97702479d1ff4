// Package markdown renders Markdown for the terminal, incrementally: complete blocks
// are rendered once, only the last one is rendered again as it grows. So the cost of a
// streamed reply is linear in its length, however it is split into deltas.
//
// It supports what models write: headings, lists, quotes, tables, code, emphasis and
// links. Anything else is shown literally.
package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxOpen bounds how much is rendered again per delta, in bytes. The beginning of a
// longer block is final.
const maxOpen = 2 << 10

// maxDepth bounds nested quotes.
const maxDepth = 4

// Styles are the styles of Markdown elements.
type Styles struct {
	text, muted, heading, code, link, border layout.SGR
	syntax                                   *syntax.Palette
}

// NewStyles returns the styles of a theme.
func NewStyles(s *theme.Styles) *Styles {
	l := &Styles{
		text: layout.SGROf(s.Text), muted: layout.SGROf(s.Muted), heading: layout.SGROf(s.Accent.Bold(true)), code: layout.SGROf(s.Accent),
		link: layout.SGROf(s.Accent.Underline(true)), border: layout.SGROf(s.Border), syntax: syntax.NewPalette(s),
	}
	if s.Theme.Monochrome {
		l.code, l.link = "", layout.Underline
	}
	return l
}

// Doc is a Markdown text that may grow.
type Doc struct {
	sanitizer *sanitize.Writer
	renderer  renderer
	partial   string // the incomplete last line
}

// New returns an empty Doc that renders to the width.
func New(l *Styles, width int) *Doc {
	d := &Doc{renderer: renderer{styles: l, width: max(width, 4)}}
	d.sanitizer = sanitize.NewWriter(writerFunc(d.readLines))
	return d
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// Render renders a complete text.
func Render(l *Styles, width int, text string) []layout.Line {
	d := New(l, width)
	d.Write(text)
	return d.Lines()
}

// Write appends text. It may be untrusted, and may end within a character.
func (d *Doc) Write(text string) { _, _ = d.sanitizer.Write([]byte(text)) } // writerFunc never fails

// readLines handles complete lines.
func (d *Doc) readLines(p []byte) {
	d.partial += string(p)
	for {
		i := strings.IndexByte(d.partial, '\n')
		if i < 0 {
			break
		}
		d.renderer.line(d.partial[:i], true)
		d.partial = d.partial[i+1:]
	}
	for len(d.partial) > maxOpen { // a very long line
		n := strings.LastIndexByte(d.partial[:maxOpen], ' ') + 1
		for n == 0 || n < len(d.partial) && !utf8.RuneStart(d.partial[n]) {
			if n == 0 {
				n = maxOpen
			} else {
				n++
			}
		}
		d.renderer.line(d.partial[:n], false)
		d.partial = d.partial[n:]
	}
}

// Lines returns the rendered lines. The next call may overwrite the lines of the last
// block.
func (d *Doc) Lines() []layout.Line {
	trial := d.renderer // a copy, because the last block is not final
	if d.partial != "" {
		trial.line(d.partial, true)
	}
	trial.closeBlock()
	d.renderer.lines = trial.lines[:len(d.renderer.lines)]
	return trial.lines
}
