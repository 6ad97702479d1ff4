package lineui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

const (
	indent         = "  " // before untrusted text
	continuation   = `\ ` // in the first column, before the rest of a line that is too long
	defaultColumns = 80   // if the width is unknown
	minColumns     = 20   // smaller widths are ignored
	tabStop        = 8
	maxBlock       = 2_000 // lines of one block
)

// printer writes the output, line by line.
type printer struct {
	w         io.Writer
	answer    io.Writer // where texts of the model go as they arrive, without labels; nil means to w, in sentences
	err       error     // the first error of a write
	columns   func() int
	open      bool         // the last line is not ended
	current   *labeledText // whose line it is; nil means the prompt
	lastWrite time.Time
}

// write writes text in the first column.
func (p *printer) write(text string) {
	if p.open && p.answer != nil {
		p.put(p.answer, "\n")
	} else if p.open {
		text = "\n" + text
	}
	p.open, p.current, p.lastWrite = false, nil, time.Now()
	p.put(p.w, text)
}

func (p *printer) put(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); p.err == nil {
		p.err = err
	}
}

// printf prints a line of pawl. Untrusted arguments must be sanitized.
func (p *printer) printf(format string, arguments ...any) {
	p.write(fmt.Sprintf(format, arguments...) + "\n")
}

// line prints a line of pawl after its label. Untrusted text must be sanitized.
func (p *printer) line(label, text string) {
	switch {
	case p.answer == nil:
		p.write(label + ": " + text + "\n")
	case label == "tool" || label == "subagent":
		p.write("• " + text + "\n")
	default:
		p.write("pawl: " + text + "\n")
	}
}

// begin begins a text of the model.
func (p *printer) begin(label string) textWriter {
	if p.answer != nil {
		return answerWriter{p}
	}
	return newSentenceWriter(p, label)
}

// answerWriter writes a text of the model as it arrives.
type answerWriter struct{ *printer }

func (w answerWriter) write(text string) {
	if text != "" {
		w.put(w.answer, text)
		w.open = !strings.HasSuffix(text, "\n")
	}
}

func (w answerWriter) end() { w.endLine() }

// text prints a whole text.
func (p *printer) text(label, text string) {
	w := p.begin(label)
	w.write(text)
	w.end()
}

// prompt prints a prompt, which the user completes with a line.
func (p *printer) prompt(text string) {
	p.write(text)
	p.open = true
}

// lineEntered records that the user has ended the line.
func (p *printer) lineEntered() { p.open, p.current = false, nil }

// endLine ends an open line.
func (p *printer) endLine() {
	if p.open {
		p.write("")
	}
}

// atPrompt reports whether the prompt is shown.
func (p *printer) atPrompt() bool { return p.open && p.current == nil }

// block prints untrusted text, indented, at most maxBlock lines.
func (p *printer) block(text string) {
	lines := strings.Split(strings.TrimRight(sanitizeBlock(text), "\n"), "\n")
	left := len(lines) - maxBlock
	if left > 0 {
		lines = lines[:maxBlock]
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+line, " \t") + "\n")
	}
	p.write(b.String())
	if left > 0 {
		p.printf("note: %s more", humanize.Plural(left, "line"))
	}
}

// full prints all of the text that the user decides about: nothing is omitted or
// hidden. It breaks long lines itself and marks the rest, because a line broken by the
// terminal would continue in the first column, where it could pass for pawl's own
// output.
func (p *printer) full(text string) {
	columns := defaultColumns
	if p.columns != nil {
		columns = max(p.columns(), minColumns)
	}
	text = sanitize.Marked(text)
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		writeBroken(&b, line, columns-1)
	}
	p.write(b.String())
}

// writeBroken writes a line in pieces of at most that many columns, broken after a
// space if possible.
func writeBroken(b *strings.Builder, line string, columns int) {
	mark := indent
	for {
		n := fitColumns(line, columns-len(mark))
		b.WriteString(mark + line[:n] + "\n")
		if line = line[n:]; line == "" {
			return
		}
		mark = continuation
	}
}

// fitColumns returns how many bytes of a line fit the columns, at least one character.
func fitColumns(line string, columns int) int {
	at, blank := 0, 0
	for i, r := range line {
		wide := ansi.StringWidth(string(r))
		if r == '\t' {
			wide = tabStop // at most
		}
		if at += wide; at > columns && i > 0 {
			if blank > 0 {
				return blank
			}
			return i
		}
		if r == ' ' {
			blank = i + 1
		}
	}
	return len(line)
}

// sanitizeBlock sanitizes untrusted text of many lines.
func sanitizeBlock(text string) string {
	return sanitize.Text(text)
}

// maxLineRunes bounds untrusted text within a line, in characters.
const maxLineRunes = 200

// sanitizeLine makes untrusted text safe to print within a line: it escapes invisible
// characters and truncates long text.
func sanitizeLine(text string) string {
	text = strings.TrimSpace(text)
	runes := []rune(sanitize.Line(text))
	if len(runes) > maxLineRunes {
		return string(runes[:maxLineRunes]) + " ..."
	}
	return string(runes)
}
