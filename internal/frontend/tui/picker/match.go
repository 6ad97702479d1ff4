package picker

import (
	"strings"
	"unicode"
)

// Query is a fuzzy query: words whose letters must occur in order, with others between
// them.
type Query struct{ words [][]rune }

// NewQuery parses a query. It is case-insensitive.
func NewQuery(text string) Query {
	var q Query
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		q.words = append(q.words, []rune(word))
	}
	return q
}

// Empty reports whether the query matches everything.
func (q Query) Empty() bool { return len(q.words) == 0 }

// Scores of a matched letter.
const (
	pointsLetter   = 16
	pointsFollows  = 12 // the letter before it matched too
	pointsStart    = 20 // it begins a word
	pointsFirst    = 24 // it begins the text
	pointsBase     = 8  // it is behind the last slash
	maxLostLetters = 40 // letters before the match that lower the score
)

// Score returns how well a text matches, higher is better; false if it does not.
func (q Query) Score(text []rune) (int, bool) {
	total := 0
	for _, word := range q.words {
		score, ok := match(word, text, nil)
		if !ok {
			return 0, false
		}
		total += score
	}
	return total - min(len(text), maxLostLetters), true
}

// In reports whether a lower-case text contains all words literally.
func (q Query) In(lower string) bool {
	for _, word := range q.words {
		if !strings.Contains(lower, string(word)) {
			return false
		}
	}
	return true
}

// Positions returns the matched letters of a text.
func (q Query) Positions(text []rune) map[int]bool {
	found := map[int]bool{}
	for _, word := range q.words {
		match(word, text, found)
	}
	return found
}

// match finds the letters of a word in a text: the shortest range that ends where they
// are first complete. It needs one pass forward and one backward.
func match(word, text []rune, found map[int]bool) (score int, ok bool) {
	end, n := -1, 0
	for i, r := range text {
		if unicode.ToLower(r) == word[n] {
			if n++; n == len(word) {
				end = i
				break
			}
		}
	}
	if end < 0 {
		return 0, false
	}
	next := -1
	base := lastSlash(text)
	for i := end; n > 0; i-- {
		if unicode.ToLower(text[i]) != word[n-1] {
			continue
		}
		n--
		score += points(text, i, base)
		if next == i+1 {
			score += pointsFollows
		}
		next = i
		if found != nil {
			found[i] = true
		}
	}
	return score, true
}

func points(text []rune, i, base int) int {
	score := pointsLetter
	switch {
	case i == 0:
		score += pointsFirst
	case starts(text, i):
		score += pointsStart
	}
	if i > base {
		score += pointsBase
	}
	return score
}

// starts reports whether a word begins at a letter.
func starts(text []rune, i int) bool {
	before, r := text[i-1], text[i]
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) || unicode.IsUpper(r) && unicode.IsLower(before)
}

func lastSlash(text []rune) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '/' {
			return i
		}
	}
	return -1
}
