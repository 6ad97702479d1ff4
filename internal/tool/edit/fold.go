package edit

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// alike returns the ASCII characters that models write instead of r, or "?" if
// they write r itself. Characters with a meaning of their own, such as ² or ①,
// must not be added.
func alike(r rune) string {
	switch r {
	case '‘', '’', '‚', '‛', '′', 'ʼ':
		return "'"
	case '“', '”', '„', '‟', '″':
		return `"`
	case '‐', '‑', '‒', '–', '—', '―', '−', '﹣':
		return "-"
	case '\u00a0', '\u202f', '\u205f', '\u3000':
		return " "
	case '…':
		return "..."
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬃ':
		return "ffi"
	case 'ﬄ':
		return "ffl"
	case '\u00ad', '\u200b', '\u2060', '\ufeff', '\ufe0f': // invisible; the last one selects the emoji form
		return ""
	}
	if r >= '\u2000' && r <= '\u200a' {
		return " "
	}
	return "?"
}

// Fold returns a line with look-alike characters (quotes, dashes, spaces,
// ligatures) replaced by ASCII, in Unicode normal form C.
func Fold(text string) string {
	if isASCII(text) {
		return text
	}
	text = norm.NFC.String(text)
	var b strings.Builder
	b.Grow(len(text))
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			b.WriteRune(r) // as the read tool shows it
			at += badBytes(text[at:])
			continue
		}
		if plain := alike(r); r < utf8.RuneSelf || plain == "?" {
			b.WriteString(text[at : at+size])
		} else {
			b.WriteString(plain)
		}
		at += size
	}
	return b.String()
}

// unit returns the end of the character at an offset and its folded form. A
// letter with its combining marks is one character, and so is a run of invalid
// UTF-8.
func unit(text string, at int) (key string, to int) {
	r, size := utf8.DecodeRuneInString(text[at:])
	to = at + size
	if r == utf8.RuneError && size == 1 {
		return "\ufffd", at + badBytes(text[at:])
	}
	if to < len(text) && text[to] >= utf8.RuneSelf {
		to = max(to, at+norm.NFC.NextBoundaryInString(text[at:], true))
		for cutsCharacter(text[to:]) {
			_, n := utf8.DecodeRuneInString(text[to:])
			to += n
		}
	}
	return Fold(text[at:to]), to
}

func badBytes(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r != utf8.RuneError || size != 1 {
			break
		}
		n++
	}
	return n
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const asciiBlanks = " \t\r\v\f"

func trimRight(folded string) string { return strings.TrimRight(folded, asciiBlanks) }
