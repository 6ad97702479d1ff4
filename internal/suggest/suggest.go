// Package suggest finds what a misspelled name was likely meant to be.
package suggest

import (
	"cmp"
	"slices"
	"strings"
)

// maxOffered is how many names a person is offered.
const maxOffered = 3

// Name returns the name that a misspelled one was likely meant to be, or "". Of
// several it is the nearest, and of those the first.
func Name(word string, names []string) string {
	if all := Names(word, names); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Names is Name for all that are near enough to be offered, the nearest first:
// a few at most.
func Names(word string, names []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, name := range names {
		far := distance(strings.ToLower(word), strings.ToLower(name))
		if strings.EqualFold(name, word) {
			far = 0
		}
		if far <= max(1, len(word)/3) {
			found = append(found, candidate{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var near []string
	for _, c := range found[:min(len(found), maxOffered)] {
		near = append(near, c.name)
	}
	return near
}

// Ask is the question whether one of the names was meant, to be put behind what
// is wrong, with a mark such as a slash before each; "" if none is near.
func Ask(mark, word string, names []string) string {
	near := Names(word, names)
	if len(near) == 0 {
		return ""
	}
	return ": did you mean " + mark + strings.Join(near, " or "+mark) + "?"
}

// distance is how many letters must be added, taken out, changed or swapped with
// their neighbor to make one word of another.
func distance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return len(a) + len(b)
	}
	var d [long + 1][long + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
