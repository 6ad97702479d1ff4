package markdown

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
)

// fenceOf returns the fence that a line begins with, or "".
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n]
		}
	}
	return ""
}

// beginCode begins code between fences.
func (r *renderer) startCode(line string, indent int) {
	fence := fenceMark(line)
	within := min(indent, r.listIndent)
	r.startBlock(code, within)
	r.fence = fence
	lang, _, _ := strings.Cut(strings.TrimSpace(line[len(fence):]), " ")
	r.lexer = syntax.For(strings.Trim(lang, "{}."))
}

// codeLine sets a line of code, or ends the code. A line that goes on from the one
// before is joined to it.
func (r *renderer) codeLine(line string, glued bool) {
	trimmed := strings.TrimSpace(line)
	if !glued && len(trimmed) >= len(r.fence) && strings.Trim(trimmed, r.fence[:1]) == "" && trimmed != "" {
		r.open, r.blank = none, true
		return
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	line = line[min(indent, r.indent):]
	lines := layout.Chop(r.lexer.Line(layout.Tabs(line), r.styles.syntax, ""), r.width, r.codeFrame())
	if glued {
		lines[0].Joint = layout.Word
	}
	r.emit(lines)
}

// bar is what stands before code.
func (r *renderer) codeFrame() layout.Frame {
	return layout.Same(spaces(r.indent), layout.Span{Text: "│ ", SGR: r.styles.border})
}
