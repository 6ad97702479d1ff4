package mcpclient

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// shown sanitizes the text of a server for the model and for people.
func shown(text string) string {
	return sanitize.Marked(strings.ToValidUTF8(text, "\uFFFD"))
}

// line returns the text of a server on one line, truncated.
func line(text string, limit int) string {
	return short(strings.Join(strings.Fields(shown(text[:min(len(text), 8*limit)])), " "), limit)
}

// short truncates a text to a number of bytes, at a character boundary.
func short(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
