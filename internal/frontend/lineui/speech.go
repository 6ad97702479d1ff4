package lineui

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

// maxHeld is how much of a text is held back for the end of its sentence.
const maxHeld = 2_000

// speech is a text that grows, said by whole sentences: a screen reader speaks what
// is added, and half a word is no word. What is said in the end does not depend on
// the pieces in which it came.
type speech struct {
	came   int // bytes of the text so far
	held   string
	writer io.Writer
	flush  func() error
}

// newSpeech begins one. Its first line stands behind a word.
func newSpeech(v *voice, word string) *speech {
	m := &margin{voice: v, word: word + ": "}
	if weak.On("plain") {
		return &speech{writer: m, flush: func() error { return nil }}
	}
	w := sanitize.NewWriter(m)
	return &speech{writer: w, flush: w.Flush}
}

// add takes a further piece.
func (s *speech) add(text string) {
	s.came += len(text)
	s.held += text
	if n := ending(s.held); n > 0 {
		s.out(n)
	}
}

// end says what was held back.
func (s *speech) end() {
	s.out(len(s.held))
	_ = s.flush() // a voice does not fail
}

func (s *speech) out(n int) {
	_, _ = io.WriteString(s.writer, s.held[:n]) // a voice does not fail
	s.held = s.held[n:]
}

// ending returns how much of a text is whole lines and sentences. Of a very long
// sentence it is whole words.
func ending(text string) int {
	from := strings.LastIndexByte(text, '\n') + 1
	end := sentences(text[from:])
	if end == 0 && len(text)-from > maxHeld {
		end = max(0, strings.LastIndexByte(text[from:], ' '))
	}
	return from + end
}

// sentences is where the last whole sentence of a line ends.
func sentences(line string) int {
	end := 0
	for at := 0; at < len(line); {
		r, n := utf8.DecodeRuneInString(line[at:])
		at += n
		next, _ := utf8.DecodeRuneInString(line[at:])
		if strings.ContainsRune("。！？", r) || unicode.IsSpace(next) && stops(line[:at]) {
			end = at
		}
	}
	return end
}

// stops reports whether a text ends like a sentence, perhaps in brackets or quotes.
func stops(text string) bool {
	text = strings.TrimRight(text, "\"')]`*_")
	return text != "" && strings.IndexByte(".!?:;", text[len(text)-1]) >= 0
}

// margin writes lines that a stranger wrote: the first behind a word, the others
// moved in. Line ends are written once something follows them.
type margin struct {
	voice *voice
	word  string // "" once it was said
	ends  int    // line ends that were not written yet
}

// Write writes a piece of them.
func (m *margin) Write(p []byte) (int, error) {
	var b strings.Builder
	for piece := range strings.SplitAfterSeq(string(p), "\n") {
		line, ends := strings.CutSuffix(piece, "\n")
		if line != "" {
			if m.begin(&b) {
				line = strings.TrimLeft(line, " ")
			}
			b.WriteString(line)
		}
		if ends && m.word == "" { // blank lines before the first one are nothing
			m.ends++
		}
	}
	_, err := io.WriteString(m.voice.w, b.String())
	return len(p), err
}

// begin goes to where the next text stands: on in the same line, or in one below. It
// reports whether something else was said in the middle of a line.
func (m *margin) begin(b *strings.Builder) (broken bool) {
	v := m.voice
	if v.open && v.margin == m && m.ends == 0 {
		return false
	}
	broken = m.ends == 0 && m.word == ""
	if v.open {
		b.WriteByte('\n')
	}
	for range min(m.ends-1, 2) {
		b.WriteByte('\n')
	}
	if m.word != "" {
		b.WriteString(m.word)
	} else {
		b.WriteString(indent)
	}
	m.word, m.ends = "", 0
	v.open, v.margin, v.spoke = true, m, time.Now()
	return broken
}
