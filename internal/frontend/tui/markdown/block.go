package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
)

// block is the kind of the open block.
type block int

const (
	none block = iota
	paragraph
	item // of a list
	quote
	table
	code
)

// renderer parses lines and renders blocks. It is a value: a copy continues
// independently, but may only append to the lines of the original.
type renderer struct {
	styles *Styles
	width  int
	depth  int // nesting of quotes

	lines []layout.Line // of complete blocks

	open       block
	text       string // of a paragraph, an item or a quote
	indent     int    // cells before the block
	marker     string // of an item
	partial    bool   // the last line is incomplete: the next call continues it
	continued  bool   // the beginning of the block was rendered already
	blank      bool   // preceded by a blank line
	listIndent int    // column of the previous item's text; 0 outside of lists

	head   []string // of a table
	align  []string
	rows   [][]string
	widths []int // of the columns, once a part of the table was rendered
	bytes  int   // of the rows

	fence string // closes the code
	lexer syntax.Lexer
}

// line handles a line; whole means that its end was received.
func (r *renderer) line(line string, whole bool) {
	glued := r.partial
	r.partial = !whole
	switch {
	case r.open == code:
		r.codeLine(line, glued)
	case glued:
		r.appendText(line, "")
	default:
		r.startLine(line)
	}
	if len(r.text) > maxOpen || r.open == quote && len(r.text) > maxOpen/4 {
		r.flushBlock()
	}
}

// startLine handles a line that may start a block.
func (r *renderer) startLine(line string) {
	trimmed := strings.TrimLeft(line, " \t")
	indent := indentWidth(line[:len(line)-len(trimmed)])
	switch {
	case strings.TrimSpace(trimmed) == "":
		r.closeBlock()
		r.blank = true
	case r.open == quote && strings.HasPrefix(trimmed, ">"):
		r.appendText(trimmed[1:], "\n")
	case r.open == table && strings.Contains(trimmed, "|"):
		r.row(trimmed)
	case fenceMark(trimmed) != "":
		r.startCode(trimmed, indent)
	case r.heading(trimmed, indent), r.rule(trimmed), r.startTable(trimmed):
	case r.listItem(trimmed, indent):
	case strings.HasPrefix(trimmed, ">") && r.depth < maxDepth:
		r.startBlock(quote, 0)
		r.appendText(trimmed[1:], "")
	case r.open == none:
		r.startText(line, trimmed, indent)
	case r.open == table:
		r.startText(line, trimmed, indent)
	default:
		r.appendText(trimmed, " ")
	}
}

// startText starts a paragraph, inside the list that it is indented for, or renders a
// line of indented code.
func (r *renderer) startText(line, trimmed string, indent int) {
	within := min(indent, r.listIndent)
	if indent-within >= 4 {
		r.startBlock(none, within)
		r.open = none
		r.lexer = syntax.Lexer{}
		r.emit(layout.Chop(r.lexer.Line(layout.Tabs(line)[min(within+4, len(line)):], r.styles.syntax, ""), r.width, r.codeFrame()))
		return
	}
	r.startBlock(paragraph, within)
	r.appendText(trimmed, "")
}

// startBlock closes the open block and starts another.
func (r *renderer) startBlock(b block, indent int) {
	r.closeBlock()
	r.emitGap(b)
	r.open, r.indent, r.text, r.marker, r.continued = b, min(indent, r.width/2), "", "", false
	if b != item && indent == 0 {
		r.listIndent = 0
	}
}

// emitGap emits a blank line before a block, except between the items of a tight list.
func (r *renderer) emitGap(b block) {
	if len(r.lines) > 0 && (r.blank || b != item && b != none || r.listIndent == 0 && b != none) && r.lines[len(r.lines)-1].Text != "" {
		r.emit([]layout.Line{{}})
	}
	r.blank = false
}

// appendText adds text to the open block.
func (r *renderer) appendText(text, between string) {
	switch r.open {
	case table:
		r.row(text)
		return
	case none: // the rest of a very long heading
		r.open, r.text, r.continued = paragraph, "", true
	case paragraph, item, quote, code:
	}
	switch {
	case r.text == "":
	case strings.HasSuffix(r.text, "  ") && between == " ", strings.HasSuffix(r.text, `\`) && between == " ":
		r.text = strings.TrimRight(strings.TrimSuffix(r.text, `\`), " ")
		between = "\n"
		fallthrough
	default:
		r.text += between
	}
	r.text += text
}

// flushBlock renders the beginning of a block that is too long.
func (r *renderer) flushBlock() {
	r.emitOpen()
	r.text, r.continued = "", true
}

// closeBlock renders the open block.
func (r *renderer) closeBlock() {
	switch {
	case r.open == table:
		r.emitTable()
	case r.open != code && r.text != "", r.open == item && !r.continued:
		r.emitOpen()
	}
	r.open, r.text = none, ""
}

// emitOpen renders the text of the open block.
func (r *renderer) emitOpen() {
	switch r.open {
	case quote:
		r.emitQuote()
	case item:
		r.emitItem()
	default:
		r.emit(r.join(layout.Wrap(r.inline(strings.TrimRight(r.text, " "), r.styles.text), r.width, layout.Same(spaces(r.indent)))))
	}
}

// join marks the first line as a continuation, if the beginning of the block was
// rendered already.
func (r *renderer) join(lines []layout.Line) []layout.Line {
	if r.continued && len(lines) > 0 {
		lines[0].Joint = layout.Space
	}
	return lines
}

func (r *renderer) emitQuote() {
	inner := renderer{styles: r.styles, width: max(4, r.width-2), depth: r.depth + 1}
	for line := range strings.SplitSeq(r.text, "\n") {
		inner.line(strings.TrimPrefix(line, " "), true)
	}
	inner.closeBlock()
	bar := layout.Render(layout.Span{Text: "┃ ", SGR: r.styles.border})
	for _, l := range inner.lines {
		l.Text, l.Frame = bar+l.Text, l.Frame+2
		r.lines = append(r.lines, l)
	}
}

func (r *renderer) emitItem() {
	rest := spaces(r.indent + width(r.marker))
	frame := layout.Frame{First: []layout.Span{spaces(r.indent), {Text: r.marker, SGR: r.styles.muted}}, Rest: []layout.Span{rest}}
	if r.continued {
		frame.First = frame.Rest
	}
	lines := layout.Wrap(r.inline(r.text, r.styles.text), r.width, frame)
	if !r.continued {
		lines[0].Frame = r.indent // the marker is part of the text
	}
	r.emit(r.join(lines))
}

func (r *renderer) emit(lines []layout.Line) { r.lines = append(r.lines, lines...) }

// heading handles an ATX heading, or the underline of a setext heading.
func (r *renderer) heading(line string, indent int) bool {
	if r.open == paragraph && len(line) >= 3 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "") && !strings.Contains(r.text, "\n") {
		text := r.text
		r.text, r.open = "", none
		r.emitHeading(text, 1)
		return true
	}
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > 6 || indent > 3 || len(line) > level && line[level] != ' ' {
		return false
	}
	r.startBlock(paragraph, 0)
	r.open = none
	r.emitHeading(strings.TrimSpace(strings.TrimRight(line[level:], "# ")), level)
	return true
}

func (r *renderer) emitHeading(text string, level int) {
	sgr := r.styles.heading
	if level == 1 {
		sgr += layout.Underline
	}
	r.emit(layout.Wrap(r.inline(text, sgr), r.width, layout.Frame{}))
	r.blank = true
}

// rule handles a thematic break.
func (r *renderer) rule(line string) bool {
	bare := strings.ReplaceAll(strings.TrimRight(line, " "), " ", "")
	if len(bare) < 3 || strings.Trim(bare, "-") != "" && strings.Trim(bare, "*") != "" && strings.Trim(bare, "_") != "" {
		return false
	}
	r.startBlock(paragraph, 0)
	r.open = none
	r.emit([]layout.Line{{Text: layout.Render(layout.Span{Text: strings.Repeat("─", min(r.width, 40)), SGR: r.styles.border})}})
	r.blank = true
	return true
}

// listItem starts a list item.
func (r *renderer) listItem(line string, indent int) bool {
	n := markerLen(line)
	if n == 0 {
		return false
	}
	mark, text := line[:n], strings.TrimLeft(line[n:], " ")
	if strings.ContainsAny(mark, "-*+") {
		mark = "• "
	} else {
		mark = strings.TrimRight(mark, " ") + " "
	}
	for checkbox, shown := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if strings.HasPrefix(text, checkbox) {
			mark, text = shown, text[len(checkbox):]
		}
	}
	indent = min(indent, r.width/2)
	r.startBlock(item, indent)
	r.marker, r.text = mark, text
	r.listIndent = indent + width(mark)
	return true
}

// markerLen returns the length of a list marker, or 0.
func markerLen(line string) int {
	digits := 0
	for digits < len(line) && digits < 9 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	n := digits + 1
	switch {
	case len(line) < n, digits == 0 && !strings.ContainsRune("-*+", rune(line[0])), digits > 0 && line[digits] != '.' && line[digits] != ')':
		return 0
	case len(line) == n:
		return n
	case line[n] != ' ' && line[n] != '\t':
		return 0
	}
	return n + 1
}

func spaces(n int) layout.Span { return layout.Span{Text: strings.Repeat(" ", max(n, 0))} }

// lineWidth returns the width of rendered text.
func lineWidth(s string) int { return ansi.StringWidth(s) }

func width(s string) int { return layout.Width([]layout.Span{{Text: s}}) }

// indentWidth returns the width of white space.
func indentWidth(blank string) int { return len(layout.Tabs(blank)) }
