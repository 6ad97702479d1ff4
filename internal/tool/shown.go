package tool

import (
	"net/url"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

// maxShownURL bounds the characters of an address in a result.
const maxShownURL = 2000

// shownURL spells an address so that it is nothing but an address.
func shownURL(u *url.URL) string { return short(egress.Escape(u.String()), maxShownURL) }

// short cuts text to a number of characters.
func short(text string, limit int) string {
	if runes := []rune(text[:min(len(text), 4*limit)]); len(runes) > limit {
		return string(runes[:limit]) + "…"
	} else if len(text) > 4*limit {
		return string(runes) + "…"
	}
	return text
}
