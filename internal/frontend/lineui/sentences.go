package lineui

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxBuffered bounds how much text is buffered while waiting for the end of a
// sentence, in bytes.
const maxBuffered = 2_000

// textWriter writes a text in pieces.
type textWriter interface {
	write(text string)
	end() // more text may follow
}

// sentenceWriter prints streamed text in whole sentences, because a screen reader
// speaks each addition and would spell out half a word. The final output does not
// depend on how the text was split into deltas.
type sentenceWriter struct {
	buffered string
	w        io.Writer
	flush    func() error
}

// newSentenceWriter returns a writer whose first line follows a label.
func newSentenceWriter(v *printer, label string) *sentenceWriter {
	m := &labeledText{out: v, label: label + ": "}
	w := sanitize.NewWriter(m)
	return &sentenceWriter{w: w, flush: w.Flush}
}

// write adds a piece of text.
func (s *sentenceWriter) write(text string) {
	s.buffered += text
	if n := completeLen(s.buffered); n > 0 {
		s.writeN(n)
	}
}

// end prints what is buffered.
func (s *sentenceWriter) end() {
	s.writeN(len(s.buffered))
	_ = s.flush() // printers do not fail
}

func (s *sentenceWriter) writeN(n int) {
	_, _ = io.WriteString(s.w, s.buffered[:n]) // likewise
	s.buffered = s.buffered[n:]
}

// completeLen returns the length of the whole lines and sentences that text begins
// with; of a very long sentence, that of its whole words.
func completeLen(text string) int {
	from := strings.LastIndexByte(text, '\n') + 1
	end := lastSentenceEnd(text[from:])
	if end == 0 && len(text)-from > maxBuffered {
		end = max(0, strings.LastIndexByte(text[from:], ' '))
	}
	return from + end
}

// lastSentenceEnd returns where the last complete sentence of a line ends, or 0.
func lastSentenceEnd(line string) int {
	end := 0
	for at := 0; at < len(line); {
		r, n := utf8.DecodeRuneInString(line[at:])
		at += n
		next, _ := utf8.DecodeRuneInString(line[at:])
		if strings.ContainsRune("。！？", r) || unicode.IsSpace(next) && endsSentence(line[:at]) {
			end = at
		}
	}
	return end
}

// endsSentence reports whether a text ends with a sentence's punctuation, perhaps
// followed by brackets or quotes.
func endsSentence(text string) bool {
	text = strings.TrimRight(text, "\"')]`*_")
	return text != "" && strings.IndexByte(".!?:;", text[len(text)-1]) >= 0
}

// labeledText writes untrusted lines: the first after a label, the others indented. It
// writes a newline only when more text follows it.
type labeledText struct {
	out      *printer
	label    string // the label; "" once it was written
	newlines int    // line endings not written yet
}

// Write writes a piece of the text.
func (t *labeledText) Write(p []byte) (int, error) {
	var b strings.Builder
	for piece := range strings.SplitAfterSeq(string(p), "\n") {
		line, ends := strings.CutSuffix(piece, "\n")
		if line != "" {
			if t.begin(&b) {
				line = strings.TrimLeft(line, " ")
			}
			b.WriteString(line)
		}
		if ends && t.label == "" { // leading blank lines are dropped
			t.newlines++
		}
	}
	_, err := io.WriteString(t.out.w, b.String())
	return len(p), err
}

// begin moves to where the next text goes: the same line, or a new one. It reports
// whether other output has interrupted the line.
func (t *labeledText) begin(b *strings.Builder) (broken bool) {
	v := t.out
	if v.open && v.current == t && t.newlines == 0 {
		return false
	}
	broken = t.newlines == 0 && t.label == ""
	if v.open {
		b.WriteByte('\n')
	}
	for range min(t.newlines-1, 2) {
		b.WriteByte('\n')
	}
	if t.label != "" {
		b.WriteString(t.label)
	} else {
		b.WriteString(indent)
	}
	t.label, t.newlines = "", 0
	v.open, v.current, v.lastWrite = true, t, time.Now()
	return broken
}
