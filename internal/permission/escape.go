package permission

import (
	"fmt"
	"strings"
	"unicode"
)

// strange reports whether a character does not show as itself: control and
// format characters, blanks other than the space, what has no glyph.
func strange(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// escape makes a text safe to show on one line: whatever would not show as
// itself is written as its code.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case strange(r) || r == unicode.ReplacementChar:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Printable makes a text safe to show: whatever would not show as itself is
// written as its code, but for line ends and tabs.
func Printable(s string) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(escape(part))
		}
	}
	return b.String()
}

// firstStrange returns the first character that does not show, tabs and line
// ends apart, escaped; or "".
func firstStrange(s string) string {
	for _, r := range s {
		if strange(r) && r != '\n' && r != '\t' {
			return escape(string(r))
		}
	}
	return ""
}
