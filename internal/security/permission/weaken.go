package permission

import (
	"regexp"
	"strconv"

	"github.com/pawl-dev/pawl/internal/weak"
)

// weakened returns a text as it is, but in tests that take a defense of Show out:
// then it has characters in the place of their codes, or breaks off.
func weakened(text string) string {
	if weak.On("show.codes") {
		text = regexp.MustCompile(`\\u\{[0-9a-f]+\}`).ReplaceAllStringFunc(text, func(code string) string {
			r, _ := strconv.ParseInt(code[3:len(code)-1], 16, 32) // as Line wrote it
			return string(rune(r))
		})
	}
	if weak.On("show.whole") {
		text = text[:min(len(text), 400)]
	}
	return text
}
