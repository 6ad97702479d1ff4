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
type Look struct {
	text, muted, heading, code, link, border layout.Ink
	syntax                                   *syntax.Inks
}

// LookOf returns that of a theme.
func LookOf(s *theme.Styles) *Look {
	l := &Look{
		text: layout.InkOf(s.Text), muted: layout.InkOf(s.Muted), heading: layout.InkOf(s.Accent.Bold(true)), code: layout.InkOf(s.Accent),
		link: layout.InkOf(s.Accent.Underline(true)), border: layout.InkOf(s.Border), syntax: syntax.InksOf(s),
	}
	if s.Theme.Plain {
		l.code, l.link = "", layout.Under
	}
	return l
}

// Doc is a text that may grow.
type Doc struct {
	safe *sanitize.Writer
	set  setter
	rest string // the last line, as far as it has come
}

// New returns an empty one, for lines of so many cells.
func New(l *Look, width int) *Doc {
	d := &Doc{set: setter{look: l, width: max(width, 4)}}
	d.safe = sanitize.NewWriter(takes(d.take))
	return d
}

type takes func([]byte)

func (f takes) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// Render returns the lines of a whole text.
func Render(l *Look, width int, text string) []layout.Line {
	d := New(l, width)
	d.Write(text)
	return d.Lines()
}

// Write adds to the text. It need not be safe, nor end with a whole character.
func (d *Doc) Write(text string) { _, _ = d.safe.Write([]byte(text)) } // takes never fails

// take reads the lines that are whole.
func (d *Doc) take(p []byte) {
	d.rest += string(p)
	for {
		i := strings.IndexByte(d.rest, '\n')
		if i < 0 {
			break
		}
		d.set.line(d.rest[:i], true)
		d.rest = d.rest[i+1:]
	}
	for len(d.rest) > maxOpen { // a line without an end
		n := strings.LastIndexByte(d.rest[:maxOpen], ' ') + 1
		for n == 0 || n < len(d.rest) && !utf8.RuneStart(d.rest[n]) {
			if n == 0 {
				n = maxOpen
			} else {
				n++
			}
		}
		d.set.line(d.rest[:n], false)
		d.rest = d.rest[n:]
	}
}

// Lines returns the lines of what has come. They are the Doc's: the next Lines may
// write over those of the last block.
func (d *Doc) Lines() []layout.Line {
	trial := d.set // what follows may turn out otherwise
	if d.rest != "" {
		trial.line(d.rest, true)
	}
	trial.close()
	d.set.lines = trial.lines[:len(d.set.lines)]
	return trial.lines
}
