package tool

import (
	"io"
	"slices"
	"unicode/utf8"
)

// escapeBytes is the length of the longest terminal control sequence that is
// recognized. Longer ones are treated as text.
const escapeBytes = 4 << 10

// cleaner turns the output of a command into readable text, piece by piece. It
// never cuts a character: an incomplete one is held until the rest arrives. It
// removes terminal control sequences. Of a line that was overwritten with
// carriage returns it keeps the last state, as far as that is in the same
// piece. Each run of other control characters or invalid UTF-8 becomes one
// replacement character.
type cleaner struct {
	held  []byte // an incomplete character or control sequence
	back  bool   // a carriage return came: the next text replaces the line
	begun bool   // the line began in an earlier piece
	bytes int64  // read since the counters were reset
	bad   int64  // of these, control characters and invalid UTF-8
}

// binary reports whether most of the output was not text. The length of one
// character is tolerated, because the first may have been cut.
func (c *cleaner) binary() bool { return c.bad >= utf8.UTFMax && c.bad*10 > c.bytes*3 }

// clean appends the cleaned piece to dst. With last set, nothing is held back.
func (c *cleaner) clean(dst, p []byte, last bool) []byte {
	if len(c.held) > 0 {
		p = append(c.held, p...)
		c.held = nil
	}
	c.bytes += int64(len(p))
	line := len(dst) // start of the line that a carriage return would replace
	replaced := false
	show := func(text ...byte) {
		if c.back && c.begun {
			dst = append(dst, '\n')
			line, c.begun = len(dst), false
		} else if c.back {
			dst = dst[:line]
		}
		c.back = false
		dst = append(dst, text...)
	}
	for i := 0; i < len(p); {
		n := printable(p[i:])
		if n > 0 {
			show(p[i : i+n]...)
			i, replaced = i+n, false
			continue
		}
		switch b := p[i]; {
		case b == '\n':
			dst = append(dst, '\n')
			line, c.begun, c.back, n = len(dst), false, false, 1
		case b == '\r':
			c.back, n = true, 1
		case b == 0x1b:
			n = escape(p[i:])
		case b >= utf8.RuneSelf:
			n = runeLen(p[i:])
			if n > 0 {
				show(p[i : i+n]...)
			}
		default:
			n = -1
		}
		if n == 0 && !last {
			c.held = slices.Clone(p[i:])
			c.bytes -= int64(len(c.held))
			break
		}
		if n <= 0 {
			if c.bad++; !replaced {
				show([]byte("\uFFFD")...)
			}
			replaced, n = true, 1
		} else {
			replaced = false
		}
		i += n
	}
	c.begun = c.begun || len(dst) > line
	return dst
}

// printable returns how many bytes of p are printable ASCII or tabs.
func printable(p []byte) int {
	for i, b := range p {
		if (b < ' ' || b > '~') && b != '\t' {
			return i
		}
	}
	return len(p)
}

// runeLen returns the length of the character at the start of p: 0 if it is
// incomplete, -1 if it is invalid or a control character.
func runeLen(p []byte) int {
	r, n := utf8.DecodeRune(p)
	switch {
	case n == 1 && !utf8.FullRune(p):
		return 0
	case n == 1 || r < 0xa0:
		return -1
	}
	return n
}

// escape returns the length of the control sequence at the start of p: 0 if it
// is incomplete, -1 if it is not one.
func escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch kind := p[1]; {
	case kind == '[': // CSI, e.g. a color
		return until(p, ' ', '?', '@')
	case kind == ']': // OSC, e.g. a title: up to BEL or ESC \
		for i := 2; i < min(len(p), escapeBytes); i++ {
			if p[i] == 0x07 || p[i] == '\\' && p[i-1] == 0x1b {
				return i + 1
			}
		}
		return open(p)
	case kind >= ' ' && kind <= '/': // e.g. a character set
		return until(p, ' ', '/', '0')
	case kind >= '0' && kind <= '~':
		return 2
	}
	return -1
}

// until returns the length of a sequence of bytes from low to high that ends
// with a byte of at least end.
func until(p []byte, low, high, end byte) int {
	for i, b := range p[2:min(len(p), escapeBytes)] {
		switch {
		case b >= end && b <= '~':
			return i + 3
		case b < low || b > high:
			return -1
		}
	}
	return open(p)
}

// open returns 0 for a sequence whose end may still come, -1 if it is too long.
func open(p []byte) int {
	if len(p) >= escapeBytes {
		return -1
	}
	return 0
}

// cleanReader returns the output of r, cleaned.
type cleanReader struct {
	r    io.Reader
	c    *cleaner
	last bool // r yields the end of the output
	raw  []byte
	text []byte
	err  error
}

func (r *cleanReader) Read(p []byte) (int, error) {
	for len(r.text) == 0 && r.err == nil {
		var n int
		n, r.err = io.ReadFull(r.r, r.raw)
		if r.err == io.ErrUnexpectedEOF { //nolint:errorlint // ReadFull returns it bare
			r.err = io.EOF
		}
		r.text = r.c.clean(nil, r.raw[:n], r.last && r.err != nil)
	}
	n := copy(p, r.text)
	if r.text = r.text[n:]; n > 0 {
		return n, nil
	}
	return 0, r.err
}
