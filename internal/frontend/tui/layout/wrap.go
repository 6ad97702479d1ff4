package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Frame is what stands at the left of lines: of the first one, and of those that
// go on from it.
type Frame struct{ First, Rest []Span }

// Same is a frame that is alike on all lines.
func Same(spans ...Span) Frame { return Frame{spans, spans} }

// Wrap breaks spans to lines of at most so many cells, the frame included: at
// spaces, and within words that are longer than a line. A line end in a span is
// one on the screen.
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

// Chop breaks spans to lines of at most so many cells wherever they are full: for
// code and output, whose spaces matter.
func Chop(spans []Span, width int, frame Frame) []Line {
	w := newLineBuilder(width, frame)
	for _, s := range spans {
		w.addHard(s.Text, s)
	}
	return w.finish()
}

// setter sets lines.
type lineBuilder struct {
	out   writer
	lines []Line
	frame Frame
	first int // cells of the frame on the first line
	rest  int // and on the others
	width int // of the text
	used  int // cells of the line that is set
	joint Joint

	word      []Span // a word that is not over yet
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

// next ends the line and begins another.
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

// prose takes a text word by word.
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

// word sets the word that was held, on the next line if it does not fit.
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
	case blank+2 <= b.width-b.used: // a word that is longer than a line begins on this one
		b.out.put(b.blank.Text, b.blank)
		b.used += blank
	}
	b.blank = Span{}
	for _, s := range b.word {
		b.addHard(s.Text, s)
	}
	b.word, b.wordWidth = b.word[:0], 0
}

// hard sets a text, and breaks it wherever a line is full.
func (b *lineBuilder) addHard(text string, s Span) {
	for text != "" {
		n, cells := fit(text, b.width-b.used)
		if n == 0 {
			if b.used > 0 {
				b.breakLine(Word)
				continue
			}
			n, cells = cluster(text) // wider than a line: it is cut by the terminal
		}
		b.out.put(text[:n], s)
		b.used += cells
		text = text[n:]
	}
}

// fit returns how many bytes of a text fit into so many cells, and what they take.
func fit(text string, room int) (n, cells int) {
	for n < len(text) && cells < room {
		if text[n] < utf8.RuneSelf && (n+1 == len(text) || text[n+1] < utf8.RuneSelf) {
			n++
			cells++
			continue
		}
		size, wide := cluster(text[n:])
		if cells+wide > room {
			return n, cells
		}
		n += size
		cells += wide
	}
	for n < len(text) { // what has no width of its own belongs to what is before it
		size, wide := cluster(text[n:])
		if wide > 0 {
			break
		}
		n += size
	}
	return n, cells
}

// cluster returns the size and the width of the first character as people see it.
func cluster(text string) (n, cells int) {
	_, cells, n, _ = ansi.DecodeSequence(text, 0, nil)
	return max(n, 1), cells
}
