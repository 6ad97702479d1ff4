package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken"
)

// TestDefensesAreListed: docs/security/corpus.md names every defense that can be
// turned off.
func TestDefensesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "security", "corpus.md"))
	if err != nil {
		t.Fatal(err)
	}
	defenses, err := weaken.Defenses()
	if err != nil {
		t.Fatal(err)
	}
	if len(defenses) < 164 {
		t.Errorf("only %d defenses are listed in weaken/edits: is one missing?", len(defenses))
	}
	for _, name := range defenses {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is not in docs/security/corpus.md", name)
		}
	}
}
