package markdown

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
)

// fenceOf returns the fence that a line begins with, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n]
		}
	}
	return ""
}

// beginCode begins code between fences.
func (s *setter) beginCode(line string, indent int) {
	fence := fenceOf(line)
	within := min(indent, s.listed)
	s.start(code, within)
	s.fence = fence
	lang, _, _ := strings.Cut(strings.TrimSpace(line[len(fence):]), " ")
	s.lexer = syntax.For(strings.Trim(lang, "{}."))
}

// codeLine sets a line of code, or ends the code. A line that goes on from the one
// before is joined to it.
func (s *setter) codeLine(line string, glued bool) {
	trimmed := strings.TrimSpace(line)
	if !glued && len(trimmed) >= len(s.fence) && strings.Trim(trimmed, s.fence[:1]) == "" && trimmed != "" {
		s.open, s.blank = none, true
		return
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	line = line[min(indent, s.indent):]
	lines := layout.Chop(s.lexer.Line(layout.Tabs(line), s.look.syntax, ""), s.width, s.bar())
	if glued {
		lines[0].Joint = layout.Word
	}
	s.put(lines)
}

// bar is what stands before code.
func (s *setter) bar() layout.Frame {
	return layout.Same(spaces(s.indent), layout.Span{Text: "│ ", Ink: s.look.border})
}
