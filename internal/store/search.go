package store

import (
	"strings"
	"unicode"
)

// SearchWords splits a text or query into lower-case words of letters and digits. A
// session matches a query if each word of the query is a prefix of a word of its
// title or first prompt.
func SearchWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
