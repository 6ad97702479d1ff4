package skill

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// cuts are the lengths, in characters, to which descriptions are truncated,
// one after the other, until all fit.
var cuts = []int{MaxDescription, 400, 250, 160, 120, 80, 50, 30, 20}

// Catalog returns the list of skills for the model: a line for each, sorted by
// name. It has at most budget bytes: descriptions are truncated, all alike,
// then left out; then it has as many names as fit, and the number of the
// others. It is deterministic, so that a provider's cache works.
func (s *Set) Catalog(budget int) string {
	if len(s.Skills) == 0 {
		return ""
	}
	for _, cut := range cuts {
		if text := s.lines(cut); len(text) <= budget {
			return text
		}
	}
	return s.names(budget)
}

// lines returns the catalog with descriptions of a length.
func (s *Set) lines(cut int) string {
	var b strings.Builder
	for _, k := range s.Skills {
		fmt.Fprintf(&b, "- %s: %s\n", k.Name, short(k.Description, cut))
	}
	return b.String()
}

// names returns the catalog with names only.
func (s *Set) names(budget int) string {
	names := make([]string, len(s.Skills))
	for i, k := range s.Skills {
		names[i] = k.Name
	}
	all := strings.Join(names, ", ")
	if len(all) < budget {
		return all + "\n"
	}
	for n := len(names) - 1; n > 0; n-- {
		all = strings.TrimSuffix(all[:len(all)-len(names[n])], ", ")
		if text := all + fmt.Sprintf(" and %d more: to search them, call skill with a word as the name\n", len(names)-n); len(text) <= budget {
			return text
		}
	}
	if text := fmt.Sprintf("%d skills: to search them, call skill with a word as the name\n", len(names)); len(text) <= budget {
		return text
	}
	return ""
}

// short truncates a text to a number of characters.
func short(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:limit-1]), " ") + "…"
}
