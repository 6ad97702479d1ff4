package config

import "strings"

// nearest returns the name that a misspelled one was likely meant to be, or "".
func nearest(word string, names []string) string {
	best, least := "", 1+max(1, len(word)/3)
	for _, name := range names {
		if strings.EqualFold(name, word) {
			return name
		}
		if d := distance(strings.ToLower(word), name); d < least {
			best, least = name, d
		}
	}
	return best
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
