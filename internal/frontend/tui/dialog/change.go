package dialog

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// bar precedes text of the model.
const bar = "  │ "

// painter colors a diff line by line, by change and by language. It does not add or
// omit anything: a line that it misinterprets is only colored differently.
type painter struct {
	palette                                       *syntax.Palette
	name, hunk, note, added, removed, plus, minus layout.SGR
	path                                          string
	old, new                                      syntax.Lexer
}

func newPainter(s *theme.Styles) *painter {
	p := &painter{
		palette: syntax.NewPalette(s), name: layout.SGROf(s.Bold), hunk: layout.SGROf(s.Accent), note: layout.SGROf(s.Muted),
		added: layout.SGROf(s.Added), removed: layout.SGROf(s.Removed),
	}
	p.plus, p.minus = p.added+layout.SGROf(s.Good), p.removed+layout.SGROf(s.Bad)
	return p
}

// paint returns the screen lines of one line of the diff.
func (p *painter) paint(text string, width int) []string {
	lines, under := p.chop(text, width)
	for i, line := range lines { // the background extends to the edge
		if missing := width - ansi.StringWidth(line); missing > 0 && under != "" {
			lines[i] += layout.Render(layout.Span{Text: strings.Repeat(" ", missing), SGR: under})
		}
	}
	return lines
}

// chop breaks a line; each part follows the bar.
func (p *painter) chop(text string, width int) (lines []string, under layout.SGR) {
	spans, under := p.spans(text)
	for _, line := range layout.Chop(spans, width, layout.Same(layout.Span{Text: bar, SGR: p.note})) {
		lines = append(lines, line.Text)
	}
	return lines, under
}

// spans returns the spans of a line, and the background of all.
func (p *painter) spans(text string) (spans []layout.Span, under layout.SGR) {
	switch {
	case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
		p.path = strings.TrimPrefix(text[len("+++ "):], "b/")
		return []layout.Span{{Text: text, SGR: p.name}}, ""
	case strings.HasPrefix(text, "@@"):
		p.old, p.new = syntax.For(p.path), syntax.For(p.path)
		return []layout.Span{{Text: text, SGR: p.hunk}}, ""
	case strings.HasPrefix(text, "+"):
		return p.signed(text, p.plus, p.added, &p.new), p.added
	case strings.HasPrefix(text, "-"):
		return p.signed(text, p.minus, p.removed, &p.old), p.removed
	case strings.HasPrefix(text, " "):
		spans = p.signed(text, "", "", &p.new)
		p.old = p.new // both continue from the common lines
		return spans, ""
	default:
		return []layout.Span{{Text: text, SGR: p.note}}, ""
	}
}

func (p *painter) signed(text string, sign, under layout.SGR, l *syntax.Lexer) []layout.Span {
	return append([]layout.Span{{Text: text[:1], SGR: sign}}, l.Line(text[1:], p.palette, under)...)
}
