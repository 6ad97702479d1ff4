package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSearchWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                         {},
		" .,-_/ ":                  {},
		"Fix the typo":             {"fix", "the", "typo"},
		"internal/store/sqlite.go": {"internal", "store", "sqlite", "go"},
		"fix_README (v2)":          {"fix", "readme", "v2"},
		"ÄRGER, naïve 東京 ①":        {"ärger", "naïve", "東京"},
		"100% O'Neil":              {"100", "o", "neil"},
	} {
		if diff := cmp.Diff(want, SearchWords(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
