package markdown

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
)

// fenceMark returns the code fence that a line starts with, or "".
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n]
		}
	}
	return ""
}

// startCode starts a fenced code block.
func (r *renderer) startCode(line string, indent int) {
	fence := fenceMark(line)
	within := min(indent, r.listIndent)
	r.startBlock(code, within)
	r.fence = fence
	lang, _, _ := strings.Cut(strings.TrimSpace(line[len(fence):]), " ")
	r.lexer = syntax.For(strings.Trim(lang, "{}."))
}

// codeLine renders a line of code, or closes the block. A partial line continues the
// one before.
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

// codeFrame is the bar before code.
func (r *renderer) codeFrame() layout.Frame {
	return layout.Same(spaces(r.indent), layout.Span{Text: "│ ", SGR: r.styles.border})
}
