// Package diff renders unified diffs with line numbers and syntax highlighting, inline
// or, if there is space, side by side.
package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Wide is the width in cells from which a diff is rendered side by side.
const Wide = 110

// Styles are the styles of a diff.
type Styles struct {
	muted, added, removed, plus, minus layout.SGR
	syntax                             *syntax.Palette
}

// NewStyles returns the styles of a theme.
func NewStyles(s *theme.Styles) *Styles {
	return &Styles{
		muted: layout.SGROf(s.Muted), added: layout.SGROf(s.Added), removed: layout.SGROf(s.Removed),
		plus: layout.SGROf(s.Good), minus: layout.SGROf(s.Bad), syntax: syntax.NewPalette(s),
	}
}

// Count returns how many lines a diff adds and removes.
func Count(unified string) (added, removed int) {
	for _, h := range parse(unified).hunks {
		for _, r := range h.rows {
			switch r.sign {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// Render renders the diff of a file. Invisible characters are shown as codes, because
// the user may decide by what they see.
func Render(l *Styles, width int, path, unified string) []layout.Line {
	f := parse(sanitize.Marked(unified))
	p := &printer{styles: l, width: max(width, 20), path: path, digits: len(strconv.Itoa(f.last))}
	for _, note := range f.notes {
		p.note(note)
	}
	for i, h := range f.hunks {
		if i > 0 || h.title != "" {
			p.note(strings.TrimSpace("⋯ " + h.title))
		}
		p.old, p.new = syntax.For(path), syntax.For(path)
		if p.width >= Wide {
			p.sideBySide(h)
		} else {
			p.unified(h)
		}
	}
	return p.lines
}

// file is the parsed diff of a file.
type file struct {
	notes []string // what precedes the hunks, such as a rename
	hunks []hunk
	last  int // the greatest line number
}

type hunk struct {
	title string
	rows  []row
}

// row is a line of a hunk. sign is +, -, a space, or \ for a note.
type row struct {
	sign     byte
	old, new int // line numbers; 0 means none
	text     string
}

// parse parses a diff. Lines before the first hunk that are not file names are notes.
func parse(unified string) file {
	var f file
	old, next := 0, 0
	for line := range strings.SplitSeq(strings.TrimSuffix(unified, "\n"), "\n") {
		var o, n int
		if title, ok := hunkHead(line, &o, &n); ok {
			f.hunks = append(f.hunks, hunk{title: title})
			old, next = o, n
			continue
		}
		if len(f.hunks) == 0 {
			if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") && line != "" {
				f.notes = append(f.notes, line)
			}
			continue
		}
		h := &f.hunks[len(f.hunks)-1]
		r := row{sign: ' '}
		if line != "" {
			r.sign, r.text = line[0], line[1:]
		}
		switch r.sign {
		case '+':
			r.new = next
			next++
		case '-':
			r.old = old
			old++
		case ' ':
			r.old, r.new = old, next
			old++
			next++
		default:
			r.sign, r.text = '\\', strings.TrimPrefix(line, `\ `)
		}
		f.last = max(f.last, r.old, r.new)
		h.rows = append(h.rows, r)
	}
	return f
}

// hunkHead parses the header of a hunk.
func hunkHead(line string, old, next *int) (title string, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return "", false
	}
	numbers, title, ok := strings.Cut(rest, " @@")
	from, to, found := strings.Cut(numbers, " +")
	if !ok || !found {
		return "", false
	}
	*old, *next = number(from), number(to)
	return strings.TrimSpace(title), true
}

func number(s string) int {
	s, _, _ = strings.Cut(s, ",")
	n, _ := strconv.Atoi(s) // 0 for a file that did not exist
	return min(max(n, 0), 1<<30)
}

// printer renders the lines of a diff.
type printer struct {
	styles   *Styles
	width    int
	path     string
	digits   int
	old, new syntax.Lexer
	lines    []layout.Line
}

func (p *printer) note(text string) {
	lines := layout.Wrap([]layout.Span{{Text: layout.Tabs(text), SGR: p.styles.muted}}, p.width, layout.Same(layout.Span{Text: strings.Repeat(" ", p.digits+3)}))
	p.lines = append(p.lines, lines...)
}

// unified renders the rows inline.
func (p *printer) unified(h hunk) {
	for _, r := range h.rows {
		p.lines = append(p.lines, p.row(r, p.width)...)
	}
}

// row renders one line of the diff within a width.
func (p *printer) row(r row, width int) []layout.Line {
	if r.sign == '\\' {
		return layout.Wrap([]layout.Span{{Text: layout.Tabs(r.text), SGR: p.styles.muted}}, width, layout.Same(layout.Span{Text: strings.Repeat(" ", p.digits+3)}))
	}
	n, sign, sgr, lexer := r.new, p.styles.muted, layout.SGR(""), &p.new
	switch r.sign {
	case '+':
		sign, sgr = p.styles.plus, p.styles.added
	case '-':
		n, sign, sgr, lexer = r.old, p.styles.minus, p.styles.removed, &p.old
	}
	spans := lexer.Line(layout.Tabs(r.text), p.styles.syntax, sgr)
	if r.sign == ' ' {
		p.old = p.new // both continue from the common lines
	}
	frame := layout.Frame{
		First: []layout.Span{{Text: fmt.Sprintf("%*d ", p.digits, n), SGR: p.styles.muted}, {Text: string(r.sign) + " ", SGR: sgr + sign}},
		Rest:  []layout.Span{{Text: strings.Repeat(" ", p.digits+1)}, {Text: "  ", SGR: sgr}},
	}
	lines := layout.Chop(spans, width, frame)
	for i := range lines {
		lines[i].Text = fill(lines[i].Text, width, sgr)
	}
	return lines
}

// fill pads a line to the width, so that its background is continuous.
func fill(line string, width int, sgr layout.SGR) string {
	if missing := width - lineWidth(line); missing > 0 && sgr != "" {
		return line + layout.Render(layout.Span{Text: strings.Repeat(" ", missing), SGR: sgr})
	}
	return line
}
