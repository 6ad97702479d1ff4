package security

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var switches = regexp.MustCompile(`weak\.On\("([a-z.]+)"\)|weakened\("([a-z]+)"\)`)

// TestDefensesAreListed: docs/security/corpus.md names every defense that can be
// taken out.
func TestDefensesAreListed(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "security", "corpus.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, dir := range []string{"cmd", "fleet", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			for _, m := range switches.FindAllStringSubmatch(string(code), -1) {
				if name := m[1]; name != "" {
					found[name] = true
				} else {
					found["sandbox."+m[2]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 40 {
		t.Fatalf("only %d switches found: is this the module's root?", len(found))
	}
	for name := range found {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is not in docs/security/corpus.md", name)
		}
	}
}
