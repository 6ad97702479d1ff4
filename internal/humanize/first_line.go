package humanize

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// FirstLine returns the first line of s, sanitized and cut to n characters.
// Invisible characters are escaped: the text is often a name, and must not look
// like another one.
func FirstLine(s string, n int) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	line = sanitize.Line(line)
	runes := []rune(line)
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	if more && strings.TrimSpace(rest) != "" {
		return line + " …"
	}
	return line
}
