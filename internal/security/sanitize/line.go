// Package sanitize makes text from outside safe to show. What a model, a tool, a
// file's name or a provider's error says must not steer the terminal, nor hide
// in what a person is asked to approve.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
)

// Strange reports whether a character does not show as itself: control and
// format characters, blanks other than the space, what has no glyph.
func Strange(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Line makes a text safe to show on one line: whatever would not show as itself
// is written as its code.
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

// FirstStrange returns the first character that does not show, tabs and line
// ends apart, as its code; or "".
func FirstStrange(s string) string {
	for _, r := range s {
		if Strange(r) && r != '\n' && r != '\t' {
			return code(r)
		}
	}
	return ""
}

// code is a character as people see it when it does not show.
func code(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }
