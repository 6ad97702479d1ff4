package store

import (
	"strings"
	"unicode"
)

// SearchWords is the form in which texts and queries are compared: lower-case
// words of letters and digits. A session matches a query if each of the
// query's words begins one of the words of its title or first prompt.
func SearchWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
