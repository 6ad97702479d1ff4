package humanize

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// FirstLine returns the first line, cut to n characters. What does not show is
// written as its code: it names something, and is not to look like another name.
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
