package mission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitCommand(t *testing.T) {
	t.Setenv("WORD", "two words")
	for line, want := range map[string][]string{
		"make test":                    {"make", "test"},
		"  grep -q   a b.txt ":         {"grep", "-q", "a", "b.txt"},
		`sh -c 'test -e a && ls "$b"'`: {"sh", "-c", `test -e a && ls "$b"`},
		`find . -name "*.go"`:          {"find", ".", "-name", "*.go"},
		`ls *.go`:                      {"ls", "*.go"},
		`echo "$WORD"`:                 {"echo", "two words"},
	} {
		if got, err := splitCommand(line); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{
		"":              "give one command",
		"a; b":          "give one command",
		"a && b":        "use sh -c",
		"a | b":         "use sh -c",
		"a > b":         "use sh -c",
		"! a":           "use sh -c",
		"A=1 b":         "use sh -c",
		"echo $(ls)":    "command substitution",
		"sh -c 'a":      "quote",
		"if a; then fi": "then",
	} {
		if got, err := splitCommand(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}
