package pdftext

import "bytes"

// literal reads a string in parentheses.
func (l *lexer) literal() any {
	var out []byte
	for depth := 1; l.pos < len(l.data); {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return text(out)
}

// escape reads what follows a backslash.
func (l *lexer) escape(out []byte) []byte {
	c := l.peek()
	l.pos++
	if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
		return append(out, "\n\r\t\b\f"[i])
	}
	switch {
	case c == '\r':
		if l.peek() == '\n' {
			l.pos++
		}
		return out
	case c == '\n':
		return out
	case c >= '0' && c <= '7':
		n := int(c - '0')
		for range 2 {
			if d := l.peek(); d >= '0' && d <= '7' {
				n = n*8 + int(d-'0')
				l.pos++
			}
		}
		return append(out, byte(n))
	}
	return append(out, c)
}

// hex reads a string of hexadecimal digits.
func (l *lexer) hex() any {
	var out []byte
	high, half := byte(0), false
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		d, ok := digit(c)
		switch {
		case !ok:
		case half:
			out = append(out, high<<4|d)
			half = false
		default:
			high, half = d, true
		}
	}
	if half {
		out = append(out, high<<4)
	}
	return text(out)
}

func digit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
