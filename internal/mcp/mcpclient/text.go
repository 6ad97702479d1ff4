package mcpclient

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

// shown is a server's text as the model and people see it: nothing in it hides.
func shown(text string) string {
	if weak.On("mcp.hidden") {
		return text
	}
	return sanitize.Marked(strings.ToValidUTF8(text, "\uFFFD"))
}

// line is a server's text on one line, cut.
func line(text string, limit int) string {
	return short(strings.Join(strings.Fields(shown(text[:min(len(text), 8*limit)])), " "), limit)
}

// short cuts a text to a number of bytes, at a character's end.
func short(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
