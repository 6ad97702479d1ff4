package record

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of the search index.
const (
	maxIndexed = 100_000 // bytes of a message that are indexed
	maxWord    = 100     // bytes of a word; the rest is ignored
)

// word is a word of a text, in the form in which it is compared.
type word struct {
	text       string
	start, end int // bytes of the original
}

// splitWords splits a text into words of letters and digits, without case and accents. A
// character of a script that puts no spaces between words is a word of its own.
func splitWords(text string) []word {
	var words []word
	var current []byte
	start := 0
	end := func(at int) {
		if len(current) > 0 {
			words = append(words, word{cutWord(current), start, at})
		}
		current = current[:0]
	}
	for i, r := range text {
		switch folded := fold(r); {
		case unicode.In(r, unicode.Mn) && len(current) > 0: // an accent of the letter before
		case folded == "":
			end(i)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end(i)
			start, current = i, append(current, folded...)
			end(i + utf8.RuneLen(r))
		default:
			if len(current) == 0 {
				start = i
			}
			current = append(current, folded...)
		}
	}
	end(len(text))
	return words
}

// cutWord returns a word of at most maxWord bytes.
func cutWord(w []byte) string {
	return strings.ToValidUTF8(string(w[:min(len(w), maxWord)]), "")
}

// fold returns the lower-case letters and digits of a character, without accents; "" if
// it is neither.
func fold(r rune) string {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return string(r)
		case 'A' <= r && r <= 'Z':
			return string(r + 'a' - 'A')
		default:
			return ""
		}
	}
	var b strings.Builder
	for _, part := range norm.NFKD.String(string(r)) {
		if part = unicode.ToLower(part); unicode.IsLetter(part) || unicode.IsDigit(part) {
			b.WriteRune(part)
		}
	}
	return b.String()
}
