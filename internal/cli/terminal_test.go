package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrapLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"", ""},
		{"no end", "no end\n"},
		{"12345678901234567890\n", "1234567890123456789\n  \u00a6 0\n"},
		{"  | " + strings.Repeat("世", 10) + "\n", "  | 世世世世世世世\n  \u00a6 世世世\n"},
	} {
		if diff := cmp.Diff(test.want, WrapLines(test.text, 20)); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
	}
}
