package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes a text of several lines safe to show on a terminal. It drops escape
// sequences, control characters except line ends and tabs, and invisible characters
// except the joiners that emoji and some scripts need. A carriage return ends a line,
// so that nothing is overwritten. Invalid UTF-8 becomes U+FFFD.
//
// Text is idempotent.
func Text(s string) string {
	if simple(s) {
		return s
	}
	var f filter
	return string(f.end(f.add(make([]byte, 0, len(s)), s)))
}

// simple reports whether a text is printable ASCII with line ends and tabs.
func simple[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// within is the kind of escape sequence that a filter is in.
type within int

const (
	inText   within = iota
	inEscape        // after ESC
	inShort         // after ESC and a byte of 0x20 to 0x2f
	inCSI           // e.g. a color: up to a byte of 0x40 to 0x7e
	inString        // e.g. a title: up to its terminator
)

// filter is Text for a text that comes in pieces.
type filter struct {
	in    within
	held  string // the beginning of a rune
	last  rune   // the last visible rune; 0 at the beginning
	ended bool   // a carriage return has just ended the line: a line feed after it belongs to it
}

// add appends the filtered piece to dst. It holds back an incomplete rune at its end.
func (f *filter) add(dst []byte, s string) []byte {
	if f.held != "" {
		s, f.held = f.held+s, ""
	}
	for s != "" {
		if !utf8.FullRuneInString(s) {
			f.held = s
			return dst
		}
		r, n := utf8.DecodeRuneInString(s)
		dst = f.next(dst, r)
		s = s[n:]
	}
	return dst
}

// end appends what was held back and resets the filter.
func (f *filter) end(dst []byte) []byte {
	for range len(f.held) {
		dst = f.next(dst, utf8.RuneError)
	}
	*f = filter{}
	return dst
}

// next processes a rune. One that cannot belong to the current sequence ends it and
// is processed by itself, so that no sequence swallows the lines below it.
func (f *filter) next(dst []byte, r rune) []byte {
	switch {
	case r == 0x18 || r == 0x1a: // CAN, SUB: the sequence is void
		f.in = inText
		return dst
	case f.in == inString && !endsString(r) || f.sequence(r):
		return dst
	}
	f.in = inText
	switch r {
	case 0x1b:
		f.in = inEscape
	case 0x9b:
		f.in = inCSI
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		f.in = inString
	case '\r':
		if f.last != '\n' && f.last != 0 {
			dst = f.show(dst, '\n')
			f.ended = true
		}
	case '\n', '\v', '\f', 0x85, '\u2028', '\u2029':
		if !f.ended || r != '\n' {
			return f.show(dst, '\n')
		}
		f.ended = false
	default:
		if r == '\t' || !unicode.IsControl(r) && (!invisible(r) || joins(f.last, r)) {
			return f.show(dst, r)
		}
	}
	return dst
}

// sequence reports whether a rune belongs to the current escape sequence, and updates
// the state.
func (f *filter) sequence(r rune) bool {
	switch f.in {
	case inEscape:
		switch {
		case r == '[':
			f.in = inCSI
		case strings.ContainsRune("]P_^X", r):
			f.in = inString
		case r >= ' ' && r <= '/':
			f.in = inShort
		default:
			f.in = inText
			return r >= '0' && r <= '~'
		}
		return true
	case inShort:
		if r >= '0' {
			f.in = inText
		}
		return r >= ' ' && r <= '~'
	case inCSI:
		if r >= '@' {
			f.in = inText
		}
		return r >= ' ' && r <= '~'
	case inString:
		f.in = inText
		return r == 0x07 || r == 0x9c // the bell, and ST
	case inText:
	}
	return false
}

// endsString reports whether a rune ends a string sequence such as a title: its
// terminator, a new sequence (ESC \ is one), or a line end.
func endsString(r rune) bool {
	return r == 0x07 || r == 0x1b || r == 0x9c || r == '\n' || r == '\r'
}

func (f *filter) show(dst []byte, r rune) []byte {
	f.last, f.ended = r, false
	return utf8.AppendRune(dst, r)
}
