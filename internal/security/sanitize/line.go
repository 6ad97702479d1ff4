// Package sanitize makes untrusted text safe to show: the output of models and tools,
// file names, errors of providers. Such text must not contain terminal escape
// sequences, or characters that hide what a person is asked to approve.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
)

// Strange reports whether a character is not displayed as itself: control and format
// characters, blanks other than the space, characters without a glyph.
func Strange(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Line makes a text safe to show on one line: it replaces strange characters,
// including line ends, by their codes.
func Line(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case Strange(r) || r == unicode.ReplacementChar:
			b.WriteString(code(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// FirstStrange returns the code of the first strange character other than tabs and
// line ends, or "".
func FirstStrange(s string) string {
	for _, r := range s {
		if Strange(r) && r != '\n' && r != '\t' {
			return code(r)
		}
	}
	return ""
}

// code returns the visible form of a character that is not displayed.
func code(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }
