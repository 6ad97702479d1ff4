package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/syntax"
)

// block says what is open.
type block int

const (
	none block = iota
	paragraph
	item // of a list
	quote
	table
	code
)

// setter reads lines and sets blocks. It is a value: a copy goes on by itself, and
// may write behind the lines of the original only.
type setter struct {
	look  *Look
	width int
	depth int // of quotes

	lines []layout.Line // of the blocks that are complete

	open   block
	text   string // of a paragraph, an item or a quote
	indent int    // cells before the block
	mark   string // of an item
	glued  bool   // the last line is not over: what comes belongs to it
	cut    bool   // the beginning of the block is set already
	blank  bool   // a blank line came before
	listed int    // cells before the text of the item before; 0 outside of lists

	head  []string // of a table
	align []string
	rows  [][]string
	sizes []int // of the columns, once a part of the table is set
	bytes int   // of the rows

	fence string // what ends the code
	lexer syntax.Lexer
}

// line takes a line; whole means that it has come to its end.
func (s *setter) line(line string, whole bool) {
	glued := s.glued
	s.glued = !whole
	switch {
	case s.open == code:
		s.codeLine(line, glued)
	case glued:
		s.more(line, "")
	default:
		s.begin(line)
	}
	if len(s.text) > maxOpen || s.open == quote && len(s.text) > maxOpen/4 {
		s.flush()
	}
}

// begin takes a line that may begin a block.
func (s *setter) begin(line string) {
	trimmed := strings.TrimLeft(line, " \t")
	indent := cells(line[:len(line)-len(trimmed)])
	switch {
	case strings.TrimSpace(trimmed) == "":
		s.close()
		s.blank = true
	case s.open == quote && strings.HasPrefix(trimmed, ">"):
		s.more(trimmed[1:], "\n")
	case s.open == table && strings.Contains(trimmed, "|"):
		s.row(trimmed)
	case fenceOf(trimmed) != "":
		s.beginCode(trimmed, indent)
	case s.heading(trimmed, indent), s.rule(trimmed), s.isTable(trimmed):
	case s.listItem(trimmed, indent):
	case strings.HasPrefix(trimmed, ">") && s.depth < maxDepth:
		s.start(quote, 0)
		s.more(trimmed[1:], "")
	case s.open == none:
		s.beginText(line, trimmed, indent)
	case s.open == table:
		s.beginText(line, trimmed, indent)
	default:
		s.more(trimmed, " ")
	}
}

// beginText begins a paragraph, within the list that it is indented for, or a line
// of code without a fence.
func (s *setter) beginText(line, trimmed string, indent int) {
	within := min(indent, s.listed)
	if indent-within >= 4 {
		s.start(none, within)
		s.open = none
		s.lexer = syntax.Lexer{}
		s.put(layout.Chop(s.lexer.Line(layout.Tabs(line)[min(within+4, len(line)):], s.look.syntax, ""), s.width, s.bar()))
		return
	}
	s.start(paragraph, within)
	s.more(trimmed, "")
}

// start closes what is open and begins a block.
func (s *setter) start(b block, indent int) {
	s.close()
	s.gap(b)
	s.open, s.indent, s.text, s.mark, s.cut = b, min(indent, s.width/2), "", "", false
	if b != item && indent == 0 {
		s.listed = 0
	}
}

// gap leaves a line before a block, unless it follows another item closely.
func (s *setter) gap(b block) {
	if len(s.lines) > 0 && (s.blank || b != item && b != none || s.listed == 0 && b != none) && s.lines[len(s.lines)-1].Text != "" {
		s.put([]layout.Line{{}})
	}
	s.blank = false
}

// more adds to the open block.
func (s *setter) more(text, between string) {
	switch s.open {
	case table:
		s.row(text)
		return
	case none: // the rest of a heading that has no end
		s.open, s.text, s.cut = paragraph, "", true
	case paragraph, item, quote, code:
	}
	switch {
	case s.text == "":
	case strings.HasSuffix(s.text, "  ") && between == " ", strings.HasSuffix(s.text, `\`) && between == " ":
		s.text = strings.TrimRight(strings.TrimSuffix(s.text, `\`), " ")
		between = "\n"
		fallthrough
	default:
		s.text += between
	}
	s.text += text
}

// flush sets the beginning of a block that has grown long.
func (s *setter) flush() {
	s.setOpen()
	s.text, s.cut = "", true
}

// close sets the block that is open.
func (s *setter) close() {
	switch {
	case s.open == table:
		s.setTable()
	case s.open != code && s.text != "", s.open == item && !s.cut:
		s.setOpen()
	}
	s.open, s.text = none, ""
}

// setOpen sets the text that is open.
func (s *setter) setOpen() {
	switch s.open {
	case quote:
		s.setQuote()
	case item:
		s.setItem()
	default:
		s.put(s.glue(layout.Wrap(s.inline(strings.TrimRight(s.text, " "), s.look.text), s.width, layout.Same(spaces(s.indent)))))
	}
}

// glue makes lines go on from those that were set of the same block.
func (s *setter) glue(lines []layout.Line) []layout.Line {
	if s.cut && len(lines) > 0 {
		lines[0].Joint = layout.Space
	}
	return lines
}

func (s *setter) setQuote() {
	inner := setter{look: s.look, width: max(4, s.width-2), depth: s.depth + 1}
	for line := range strings.SplitSeq(s.text, "\n") {
		inner.line(strings.TrimPrefix(line, " "), true)
	}
	inner.close()
	bar := layout.Render(layout.Span{Text: "┃ ", Ink: s.look.border})
	for _, l := range inner.lines {
		l.Text, l.Frame = bar+l.Text, l.Frame+2
		s.lines = append(s.lines, l)
	}
}

func (s *setter) setItem() {
	rest := spaces(s.indent + width(s.mark))
	frame := layout.Frame{First: []layout.Span{spaces(s.indent), {Text: s.mark, Ink: s.look.muted}}, Rest: []layout.Span{rest}}
	if s.cut {
		frame.First = frame.Rest
	}
	lines := layout.Wrap(s.inline(s.text, s.look.text), s.width, frame)
	if !s.cut {
		lines[0].Frame = s.indent // its mark is part of the text
	}
	s.put(s.glue(lines))
}

func (s *setter) put(lines []layout.Line) { s.lines = append(s.lines, lines...) }

// heading takes a line with number signs, or one that underlines the line before.
func (s *setter) heading(line string, indent int) bool {
	if s.open == paragraph && len(line) >= 3 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "") && !strings.Contains(s.text, "\n") {
		text := s.text
		s.text, s.open = "", none
		s.setHeading(text, 1)
		return true
	}
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > 6 || indent > 3 || len(line) > level && line[level] != ' ' {
		return false
	}
	s.start(paragraph, 0)
	s.open = none
	s.setHeading(strings.TrimSpace(strings.TrimRight(line[level:], "# ")), level)
	return true
}

func (s *setter) setHeading(text string, level int) {
	ink := s.look.heading
	if level == 1 {
		ink += layout.Under
	}
	s.put(layout.Wrap(s.inline(text, ink), s.width, layout.Frame{}))
	s.blank = true
}

// rule takes a line across.
func (s *setter) rule(line string) bool {
	bare := strings.ReplaceAll(strings.TrimRight(line, " "), " ", "")
	if len(bare) < 3 || strings.Trim(bare, "-") != "" && strings.Trim(bare, "*") != "" && strings.Trim(bare, "_") != "" {
		return false
	}
	s.start(paragraph, 0)
	s.open = none
	s.put([]layout.Line{{Text: layout.Render(layout.Span{Text: strings.Repeat("─", min(s.width, 40)), Ink: s.look.border})}})
	s.blank = true
	return true
}

// listItem begins an item.
func (s *setter) listItem(line string, indent int) bool {
	n := markOf(line)
	if n == 0 {
		return false
	}
	mark, text := line[:n], strings.TrimLeft(line[n:], " ")
	if strings.ContainsAny(mark, "-*+") {
		mark = "• "
	} else {
		mark = strings.TrimRight(mark, " ") + " "
	}
	for box, shown := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if strings.HasPrefix(text, box) {
			mark, text = shown, text[len(box):]
		}
	}
	indent = min(indent, s.width/2)
	s.start(item, indent)
	s.mark, s.text = mark, text
	s.listed = indent + width(mark)
	return true
}

// markOf returns how long the mark of an item is, or 0.
func markOf(line string) int {
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

// lineWidth is how many cells a line takes that is printed already.
func lineWidth(s string) int { return ansi.StringWidth(s) }

func width(s string) int { return layout.Width([]layout.Span{{Text: s}}) }

// cells is how far an indent reaches.
func cells(blank string) int { return len(layout.Tabs(blank)) }
