package pdftext

import (
	"math"
	"strings"
	"unicode"
)

// writer arranges pieces of text in lines: a lower piece starts a new line, a
// piece at a distance is preceded by a space.
type writer struct {
	b     strings.Builder
	limit int
	begun bool
	last  matrix // where the last piece ended
	size  float64
}

func (w *writer) full() bool { return w.b.Len() >= w.limit }

// page starts a page.
func (w *writer) page() {
	if w.b.Len() > 0 {
		w.b.WriteString("\n\n")
	}
	w.begun = false
}

// wordGap is the gap between words as a part of the font size: a space is
// about a quarter, while kerning moves letters by less than a tenth.
const wordGap = 0.15

// write adds a piece that begins and ends at the given positions.
func (w *writer) write(s string, from, to matrix, size float64) {
	if s == "" {
		return
	}
	size = math.Abs(size) * math.Hypot(from.b, from.d)
	if w.begun {
		across, down := math.Abs(from.e-w.last.e), w.last.f-from.f
		height := max(size, w.size)
		switch {
		case down > 2*height:
			w.b.WriteString("\n\n")
		case math.Abs(down) > height/2:
			w.b.WriteString("\n")
		case across > wordGap*height && !strings.HasPrefix(s, " ") && !strings.HasSuffix(w.b.String(), " "):
			w.b.WriteString(" ")
		}
	}
	w.begun, w.last, w.size = true, to, size
	for _, r := range s {
		if w.full() {
			return
		}
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			continue
		}
		w.b.WriteRune(r)
	}
}
