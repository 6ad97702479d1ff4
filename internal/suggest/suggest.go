// Package suggest finds the names that a misspelled one was likely meant to be
// ("did you mean …?"), by edit distance.
package suggest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSuggested is how many names Names returns at most.
const maxSuggested = 3

// Name returns the name most like word, or "" if none is like it. Of names at
// the same distance the first in names wins.
func Name(word string, names []string) string {
	if all := Names(word, names); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Names returns up to three names that are like word, the most similar first.
// Case does not matter.
func Names(word string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, name := range names {
		distance := Distance(strings.ToLower(word), strings.ToLower(name))
		if strings.EqualFold(name, word) {
			distance = 0
		}
		if distance <= max(1, utf8.RuneCountInString(word)/3) {
			found = append(found, candidate{name, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var similar []string
	for _, c := range found[:min(len(found), maxSuggested)] {
		similar = append(similar, c.name)
	}
	return similar
}

// Ask returns the end of an error message, ": did you mean /a or /b?", or "" if
// no name is like word. The prefix, such as a slash, goes before each name.
func Ask(prefix, word string, names []string) string {
	similar := Names(word, names)
	if len(similar) == 0 {
		return ""
	}
	return ": did you mean " + prefix + strings.Join(similar, " or "+prefix) + "?"
}

// Quoted returns the names that are like word, such as "/a" or "/b", for a hint, or ""
// if none is. The prefix goes before each name.
func Quoted(prefix, word string, names []string) string {
	similar := Names(word, names)
	for i, name := range similar {
		similar[i] = strconv.Quote(prefix + name)
	}
	return strings.Join(similar, " or ")
}

// maxWord is how many characters of a word Distance compares.
const maxWord = 256

// Distance returns the edit distance of two words: how many characters must be
// inserted, removed, replaced or swapped with their neighbor to turn one into
// the other. It depends on case. Words of more than 256 characters are not
// compared: their distance is the length of both together.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxWord || len(y) > maxWord {
		return len(x) + len(y)
	}
	// The last three rows of the table: d[i][j] is the distance of x[:i] and y[:j].
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range y {
			replace := last[j]
			if x[i] != y[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(y)]
}
