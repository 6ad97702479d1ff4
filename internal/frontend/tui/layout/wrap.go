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
	w := newSetter(width, frame)
	for _, s := range spans {
		for i, text := range strings.Split(s.Text, "\n") {
			if i > 0 {
				w.word()
				w.next(Break)
			}
			w.prose(text, s)
		}
	}
	w.word()
	return w.done()
}

// Chop breaks spans to lines of at most so many cells wherever they are full: for
// code and output, whose spaces matter.
func Chop(spans []Span, width int, frame Frame) []Line {
	w := newSetter(width, frame)
	for _, s := range spans {
		w.hard(s.Text, s)
	}
	return w.done()
}

// setter sets lines.
type setter struct {
	pen   pen
	lines []Line
	frame Frame
	first int // cells of the frame on the first line
	rest  int // and on the others
	width int // of the text
	used  int // cells of the line that is set
	joint Joint

	held      []Span // a word that is not over yet
	heldWidth int
	blank     Span // spaces before it
}

func newSetter(w int, f Frame) *setter {
	s := &setter{frame: f, first: Width(f.First), rest: Width(f.Rest)}
	s.width = max(1, w-max(s.first, s.rest))
	s.begin()
	return s
}

func (w *setter) begin() {
	frame := w.frame.Rest
	if len(w.lines) == 0 {
		frame = w.frame.First
	}
	for _, s := range frame {
		w.pen.put(s.Text, s)
	}
	w.used = 0
}

// next ends the line and begins another.
func (w *setter) next(j Joint) {
	w.push()
	w.joint = j
	w.blank = Span{}
	w.begin()
}

func (w *setter) push() {
	frame := w.rest
	if len(w.lines) == 0 {
		frame = w.first
	}
	w.lines = append(w.lines, Line{Text: w.pen.end(), Frame: frame, Joint: w.joint})
}

func (w *setter) done() []Line {
	w.push()
	return w.lines
}

// prose takes a text word by word.
func (w *setter) prose(text string, s Span) {
	for text != "" {
		n := strings.IndexByte(text, ' ')
		if n != 0 {
			if n < 0 {
				n = len(text)
			}
			s.Text = text[:n]
			w.held = append(w.held, s)
			w.heldWidth += width(s.Text)
			text = text[n:]
			continue
		}
		w.word()
		n = len(text) - len(strings.TrimLeft(text, " "))
		s.Text = w.blank.Text + text[:n]
		w.blank = s
		text = text[n:]
	}
}

// word sets the word that was held, on the next line if it does not fit.
func (w *setter) word() {
	if len(w.held) == 0 {
		return
	}
	blank := len(w.blank.Text)
	switch {
	case w.used+blank+w.heldWidth <= w.width:
		w.pen.put(w.blank.Text, w.blank)
		w.used += blank
	case w.used > 0 && (w.heldWidth <= w.width || w.used+blank+2 > w.width):
		w.next(Space)
	case blank+2 <= w.width-w.used: // a word that is longer than a line begins on this one
		w.pen.put(w.blank.Text, w.blank)
		w.used += blank
	}
	w.blank = Span{}
	for _, s := range w.held {
		w.hard(s.Text, s)
	}
	w.held, w.heldWidth = w.held[:0], 0
}

// hard sets a text, and breaks it wherever a line is full.
func (w *setter) hard(text string, s Span) {
	for text != "" {
		n, cells := fit(text, w.width-w.used)
		if n == 0 {
			if w.used > 0 {
				w.next(Word)
				continue
			}
			n, cells = cluster(text) // wider than a line: it is cut by the terminal
		}
		w.pen.put(text[:n], s)
		w.used += cells
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
