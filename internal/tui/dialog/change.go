package dialog

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/tui/flow"
	"github.com/pawl-dev/pawl/internal/tui/syntax"
	"github.com/pawl-dev/pawl/internal/tui/theme"
)

// bar stands before what the model wrote.
const bar = "  | "

// painter colors a diff line by line, by what it changes and by its language. It
// leaves nothing out and adds nothing: a line that it takes for something else
// has another color, no more.
type painter struct {
	inks                                          *syntax.Inks
	name, hunk, note, added, removed, plus, minus flow.Ink
	path                                          string
	old, new                                      syntax.Lexer
}

func newPainter(s *theme.Styles) *painter {
	p := &painter{
		inks: syntax.InksOf(s), name: flow.InkOf(s.Bold), hunk: flow.InkOf(s.Accent), note: flow.InkOf(s.Muted),
		added: flow.InkOf(s.Added), removed: flow.InkOf(s.Removed),
	}
	p.plus, p.minus = p.added+flow.InkOf(s.Good), p.removed+flow.InkOf(s.Bad)
	return p
}

// paint returns the lines that one line of the diff, behind its bar, takes.
func (p *painter) paint(text string, width int) []string {
	lines, under := p.chop(text, width)
	for i, line := range lines { // what is behind it goes to the edge
		if missing := width - ansi.StringWidth(line); missing > 0 && under != "" {
			lines[i] += flow.Render(flow.Span{Text: strings.Repeat(" ", missing), Ink: under})
		}
	}
	return lines
}

// chop breaks a line, each part behind the bar.
func (p *painter) chop(text string, width int) (lines []string, under flow.Ink) {
	spans, under := p.spans(text)
	for _, line := range flow.Chop(spans, width, flow.Same(flow.Span{Text: bar})) {
		lines = append(lines, line.Text)
	}
	return lines, under
}

// spans are the pieces of a line, and what is behind all of them.
func (p *painter) spans(text string) (spans []flow.Span, under flow.Ink) {
	switch {
	case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
		p.path = strings.TrimPrefix(text[len("+++ "):], "b/")
		return []flow.Span{{Text: text, Ink: p.name}}, ""
	case strings.HasPrefix(text, "@@"):
		p.old, p.new = syntax.For(p.path), syntax.For(p.path)
		return []flow.Span{{Text: text, Ink: p.hunk}}, ""
	case strings.HasPrefix(text, "+"):
		return p.signed(text, p.plus, p.added, &p.new), p.added
	case strings.HasPrefix(text, "-"):
		return p.signed(text, p.minus, p.removed, &p.old), p.removed
	case strings.HasPrefix(text, " "):
		spans = p.signed(text, "", "", &p.new)
		p.old = p.new // both go on from what they have in common
		return spans, ""
	default:
		return []flow.Span{{Text: text, Ink: p.note}}, ""
	}
}

func (p *painter) signed(text string, sign, under flow.Ink, l *syntax.Lexer) []flow.Span {
	return append([]flow.Span{{Text: text[:1], Ink: sign}}, l.Line(text[1:], p.inks, under)...)
}
