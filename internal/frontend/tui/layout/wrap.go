package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Frame is what precedes the text of lines: of the first one, and of its
// continuations.
type Frame struct{ First, Rest []Span }

// Same returns a frame that is the same for all lines.
func Same(spans ...Span) Frame { return Frame{spans, spans} }

// Wrap breaks spans into lines of at most that width, frame included: at spaces, and
// within words that are longer than a line. A line break in a span is kept.
func Wrap(spans []Span, width int, frame Frame) []Line {
	w := newLineBuilder(width, frame)
	for _, s := range spans {
		for i, text := range strings.Split(s.Text, "\n") {
			if i > 0 {
				w.endWord()
				w.breakLine(Break)
			}
			w.addText(text, s)
		}
	}
	w.endWord()
	return w.finish()
}

// Chop breaks spans into lines of at most that width wherever a line is full: for code
// and output, whose spaces matter.
func Chop(spans []Span, width int, frame Frame) []Line {
	w := newLineBuilder(width, frame)
	for _, s := range spans {
		w.addHard(s.Text, s)
	}
	return w.finish()
}

// lineBuilder builds lines.
type lineBuilder struct {
	out   writer
	lines []Line
	frame Frame
	first int // width of the frame on the first line
	rest  int // and on the others
	width int // of the text
	used  int // cells used on the current line
	joint Joint

	word      []Span // an incomplete word
	wordWidth int
	blank     Span // spaces before it
}

func newLineBuilder(w int, f Frame) *lineBuilder {
	s := &lineBuilder{frame: f, first: Width(f.First), rest: Width(f.Rest)}
	s.width = max(1, w-max(s.first, s.rest))
	s.startLine()
	return s
}

func (b *lineBuilder) startLine() {
	frame := b.frame.Rest
	if len(b.lines) == 0 {
		frame = b.frame.First
	}
	for _, s := range frame {
		b.out.put(s.Text, s)
	}
	b.used = 0
}

// breakLine ends the line and starts another.
func (b *lineBuilder) breakLine(j Joint) {
	b.endLine()
	b.joint = j
	b.blank = Span{}
	b.startLine()
}

func (b *lineBuilder) endLine() {
	frame := b.rest
	if len(b.lines) == 0 {
		frame = b.first
	}
	b.lines = append(b.lines, Line{Text: b.out.take(), Frame: frame, Joint: b.joint})
}

func (b *lineBuilder) finish() []Line {
	b.endLine()
	return b.lines
}

// addText adds a text word by word.
func (b *lineBuilder) addText(text string, s Span) {
	for text != "" {
		n := strings.IndexByte(text, ' ')
		if n != 0 {
			if n < 0 {
				n = len(text)
			}
			s.Text = text[:n]
			b.word = append(b.word, s)
			b.wordWidth += width(s.Text)
			text = text[n:]
			continue
		}
		b.endWord()
		n = len(text) - len(strings.TrimLeft(text, " "))
		s.Text = b.blank.Text + text[:n]
		b.blank = s
		text = text[n:]
	}
}

// endWord adds the buffered word, on the next line if it does not fit.
func (b *lineBuilder) endWord() {
	if len(b.word) == 0 {
		return
	}
	blank := len(b.blank.Text)
	switch {
	case b.used+blank+b.wordWidth <= b.width:
		b.out.put(b.blank.Text, b.blank)
		b.used += blank
	case b.used > 0 && (b.wordWidth <= b.width || b.used+blank+2 > b.width):
		b.breakLine(Space)
	case blank+2 <= b.width-b.used: // a word longer than a line starts on this one
		b.out.put(b.blank.Text, b.blank)
		b.used += blank
	}
	b.blank = Span{}
	for _, s := range b.word {
		b.addHard(s.Text, s)
	}
	b.word, b.wordWidth = b.word[:0], 0
}

// addHard adds a text and breaks it wherever a line is full.
func (b *lineBuilder) addHard(text string, s Span) {
	for text != "" {
		n, cells := fit(text, b.width-b.used)
		if n == 0 {
			if b.used > 0 {
				b.breakLine(Word)
				continue
			}
			n, cells = cluster(text) // wider than a line: the terminal clips it
		}
		b.out.put(text[:n], s)
		b.used += cells
		text = text[n:]
	}
}

// fit returns how many bytes of a text fit into that many cells, and their width.
func fit(text string, limit int) (n, cells int) {
	for n < len(text) && cells < limit {
		if text[n] < utf8.RuneSelf && (n+1 == len(text) || text[n+1] < utf8.RuneSelf) {
			n++
			cells++
			continue
		}
		size, wide := cluster(text[n:])
		if cells+wide > limit {
			return n, cells
		}
		n += size
		cells += wide
	}
	for n < len(text) { // characters without width belong to the one before
		size, wide := cluster(text[n:])
		if wide > 0 {
			break
		}
		n += size
	}
	return n, cells
}

// cluster returns the size and the width of the first grapheme cluster.
func cluster(text string) (n, cells int) {
	_, cells, n, _ = ansi.DecodeSequence(text, 0, nil)
	return max(n, 1), cells
}
