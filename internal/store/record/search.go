package record

import (
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Limits of a search.
const (
	maxSearch      = 1000 // bytes of the query
	maxSearchWords = 50
)

// Phrase is a sequence of words that a text must contain.
type Phrase struct {
	Words  []string // letters and digits only
	Prefix bool     // the last word may be the beginning of a word
}

// Search is a query for texts that contain all of its phrases.
type Search []Phrase

// ParseSearch parses a query. A word finds itself, without case and accents. Words that
// only punctuation separates, such as a path, and words in double quotes must follow each
// other. The last word finds all words that it begins, unless it is in quotes or a space
// follows it.
func ParseSearch(query string) (Search, error) {
	if len(query) > maxSearch {
		return nil, fault.New(pawl.ErrInvalid, "the search is longer than %d bytes", maxSearch)
	}
	var search Search
	n := 0
	for i, part := range strings.Split(query, `"`) {
		chunks := []string{part}
		quoted := i%2 == 1
		if !quoted {
			chunks = strings.FieldsFunc(part, unicode.IsSpace)
		}
		for _, chunk := range chunks {
			var p Phrase
			for _, w := range splitWords(chunk) {
				p.Words = append(p.Words, w.text)
			}
			if len(p.Words) > 0 {
				search, n = append(search, p), n+len(p.Words)
			}
		}
	}
	switch {
	case n == 0:
		return nil, fault.New(pawl.ErrInvalid, "the search contains no words: use letters or digits")
	case n > maxSearchWords:
		return nil, fault.New(pawl.ErrInvalid, "the search has %d words, at most %d are allowed", n, maxSearchWords)
	}
	if words := splitWords(query); words[len(words)-1].end == len(query) {
		search[len(search)-1].Prefix = true
	}
	return search, nil
}

// span is a part of a text, in bytes.
type span struct{ start, end int }

// matches returns the parts of a text that match a phrase, in order and without overlaps.
func (s Search) matches(text string) []span {
	words := splitWords(indexed(text))
	var found []span
	last := 0
	for i := range words {
		for _, p := range s {
			n := len(p.Words)
			if i+n <= len(words) && words[i].start >= last && p.at(words[i:i+n]) {
				last = words[i+n-1].end
				found = append(found, span{words[i].start, last})
			}
		}
	}
	return found
}

// at reports whether these words are the phrase.
func (p Phrase) at(words []word) bool {
	for i, w := range p.Words {
		same := words[i].text == w
		if p.Prefix && i == len(p.Words)-1 {
			same = strings.HasPrefix(words[i].text, w)
		}
		if !same {
			return false
		}
	}
	return true
}

// Sizes of a snippet, in bytes.
const (
	snippetBefore = 60
	snippetLen    = 240
)

// Snippet returns the part of a text around the first match, on one line, without
// characters that are not displayed as themselves.
func (s Search) Snippet(text string) []pawl.Snippet {
	matches := s.matches(text)
	if len(matches) == 0 {
		return nil
	}
	first := matches[0]
	start := wordStart(text, first.start-snippetBefore)
	end := min(len(text), max(first.end, start+snippetLen))
	var parts []pawl.Snippet
	add := func(from, to int, match bool) {
		if t := visible(text[from:to]); t != "" {
			parts = append(parts, pawl.Snippet{Text: t, Match: match})
		}
	}
	at := start
	for _, m := range matches {
		if m.end > end {
			break
		}
		add(at, m.start, false)
		add(m.start, m.end, true)
		at = m.end
	}
	add(at, end, false)
	if start > 0 {
		parts[0].Text = "…" + parts[0].Text
	}
	if end < len(text) {
		parts[len(parts)-1].Text += "…"
	}
	return parts
}

// wordStart returns the start of the first word after a position, or 0 near the start.
func wordStart(text string, at int) int {
	if at <= 0 {
		return 0
	}
	if i := strings.IndexFunc(text[at:at+snippetBefore], unicode.IsSpace); i >= 0 {
		return at + i + 1
	}
	for text[at]&0xC0 == 0x80 { // not in the middle of a character
		at++
	}
	return at
}

// visible replaces each run of spaces and line ends by a space, and removes characters
// that are not displayed as themselves.
func visible(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
		case sanitize.Strange(r), r == unicode.ReplacementChar:
		default:
			b.WriteRune(r)
			space = false
		}
	}
	return b.String()
}

// indexed returns the part of a text that is indexed.
func indexed(text string) string {
	return text[:min(len(text), maxIndexed)]
}
