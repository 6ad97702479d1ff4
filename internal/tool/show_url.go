package tool

import (
	"net/url"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

// maxShownURL is how many characters of a URL a result shows.
const maxShownURL = 2000

// shownURL formats a URL for the model, with characters escaped that could end
// it.
func shownURL(u *url.URL) string { return short(egress.Escape(u.String()), maxShownURL) }

// short truncates text to a number of characters.
func short(text string, limit int) string {
	if runes := []rune(text[:min(len(text), 4*limit)]); len(runes) > limit {
		return string(runes[:limit]) + "…"
	} else if len(text) > 4*limit {
		return string(runes) + "…"
	}
	return text
}
