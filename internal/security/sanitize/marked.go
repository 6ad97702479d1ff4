package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Marked makes visible what does not show, for those who act on a text: a model,
// or a person who is asked. Nothing is left out: what Text would drop is written
// as its code, as in Line. Line ends and tabs stay; a carriage return does only
// as part of a line end.
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

// shows reports whether a character shows, or belongs to the one before it.
func shows(before, r rune) bool {
	return !unicode.IsControl(r) && r != '\u2028' && r != '\u2029' && (!invisible(r) || joins(before, r))
}

// JSON makes an encoded value safe to print: what Text would not show is escaped
// in its strings, so that nothing of it is lost to who reads the value.
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

// appendEscaped appends a character as JSON's strings have it.
func appendEscaped(out []byte, r rune) []byte {
	units := utf16.AppendRune(nil, r)
	for _, u := range units {
		out = fmt.Appendf(out, `\u%04x`, u)
	}
	return out
}

// Unhidden makes visible what could give a model other orders than a person
// reads in the same text: characters of the tags block, which no screen shows,
// and those that change the order of what it shows. All else stays, so that a
// file can be edited by what was read of it.
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
