package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Marked makes invisible characters visible, for a model or a person who acts on the
// text. It drops nothing: what Text would drop is replaced by its code, as in Line.
// Line ends and tabs stay; a carriage return stays only as part of a line end.
func Marked(s string) string {
	if simple(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := rune(0)
	for i, r := range s {
		switch {
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
			continue
		case r == '\n' || r == '\t' || shows(last, r):
			b.WriteRune(r)
			last = r
		default:
			b.WriteString(code(r))
			last = '}'
		}
	}
	return b.String()
}

// shows reports whether a character is visible, or belongs to the one before it.
func shows(before, r rune) bool {
	return !unicode.IsControl(r) && r != '\u2028' && r != '\u2029' && (!invisible(r) || joins(before, r))
}

// JSON makes a JSON value safe to print: it escapes in its strings what Text would
// drop, so that the value stays the same.
func JSON(b []byte) []byte {
	if simple(b) {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, `\ufffd`...)
		case r == '\r': // between values: within a string it would be escaped
			out = append(out, ' ')
		case r == '\n' || r == '\t' || shows(0, r):
			out = append(out, b[:n]...)
		default:
			out = appendEscaped(out, r)
		}
		b = b[n:]
	}
	return out
}

// appendEscaped appends a character as a JSON escape.
func appendEscaped(out []byte, r rune) []byte {
	units := utf16.AppendRune(nil, r)
	for _, u := range units {
		out = fmt.Appendf(out, `\u%04x`, u)
	}
	return out
}

// Unhidden makes visible what could hide instructions for a model from people: tag
// characters, which no screen shows, and bidirectional controls. It changes nothing
// else, so that edits of a file still match its text.
func Unhidden(s string) string {
	if !strings.ContainsFunc(s, hides) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hides(r) {
			b.WriteString(code(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hides(r rune) bool {
	return r >= 0xE0000 && r <= 0xE007F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}
