// Package markdown shows Markdown as it is written: blocks that are complete are
// set once and stay, only the last one is set anew as it grows. So a reply costs
// what its length costs, in however many pieces it comes.
//
// It reads what models write: headings, lists, quotes, tables, code, emphasis and
// links. What it does not know is shown as it stands.
package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxOpen bounds what is set anew when more comes, in bytes: of a longer block the
// beginning stays as it is.
const maxOpen = 2 << 10

// maxDepth bounds quotes within quotes.
const maxDepth = 4

// Look is how a theme shows Markdown.
type Styles struct {
	text, muted, heading, code, link, border layout.SGR
	syntax                                   *syntax.Palette
}

// LookOf returns that of a theme.
func NewStyles(s *theme.Styles) *Styles {
	l := &Styles{
		text: layout.SGROf(s.Text), muted: layout.SGROf(s.Muted), heading: layout.SGROf(s.Accent.Bold(true)), code: layout.SGROf(s.Accent),
		link: layout.SGROf(s.Accent.Underline(true)), border: layout.SGROf(s.Border), syntax: syntax.NewPalette(s),
	}
	if s.Theme.Plain {
		l.code, l.link = "", layout.Underline
	}
	return l
}

// Doc is a text that may grow.
type Doc struct {
	sanitizer *sanitize.Writer
	renderer  renderer
	partial   string // the last line, as far as it has come
}

// New returns an empty one, for lines of so many cells.
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

// Render returns the lines of a whole text.
func Render(l *Styles, width int, text string) []layout.Line {
	d := New(l, width)
	d.Write(text)
	return d.Lines()
}

// Write adds to the text. It need not be safe, nor end with a whole character.
func (d *Doc) Write(text string) { _, _ = d.sanitizer.Write([]byte(text)) } // takes never fails

// take reads the lines that are whole.
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
	for len(d.partial) > maxOpen { // a line without an end
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

// Lines returns the lines of what has come. They are the Doc's: the next Lines may
// write over those of the last block.
func (d *Doc) Lines() []layout.Line {
	trial := d.renderer // what follows may turn out otherwise
	if d.partial != "" {
		trial.line(d.partial, true)
	}
	trial.closeBlock()
	d.renderer.lines = trial.lines[:len(d.renderer.lines)]
	return trial.lines
}
