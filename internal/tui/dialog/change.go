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
	styles   *theme.Styles
	inks     *syntax.Inks
	path     string
	old, new syntax.Lexer
}

func newPainter(s *theme.Styles) *painter { return &painter{styles: s, inks: syntax.InksOf(s)} }

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
		return []flow.Span{{Text: text, Ink: flow.InkOf(p.styles.Bold)}}, ""
	case strings.HasPrefix(text, "@@"):
		p.old, p.new = syntax.For(p.path), syntax.For(p.path)
		return []flow.Span{{Text: text, Ink: flow.InkOf(p.styles.Accent)}}, ""
	case strings.HasPrefix(text, "+"):
		under = flow.InkOf(p.styles.Added)
		return p.signed(text, under+flow.InkOf(p.styles.Good), under, &p.new), under
	case strings.HasPrefix(text, "-"):
		under = flow.InkOf(p.styles.Removed)
		return p.signed(text, under+flow.InkOf(p.styles.Bad), under, &p.old), under
	case strings.HasPrefix(text, " "):
		spans = p.signed(text, "", "", &p.new)
		p.old = p.new // both go on from what they have in common
		return spans, ""
	default:
		return []flow.Span{{Text: text, Ink: flow.InkOf(p.styles.Muted)}}, ""
	}
}

func (p *painter) signed(text string, sign, under flow.Ink, l *syntax.Lexer) []flow.Span {
	return append([]flow.Span{{Text: text[:1], Ink: sign}}, l.Line(text[1:], p.inks, under)...)
}
