package mutate

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files and the lexers")

// TestLexersAreCurrent compares lexers/ with the files of the module chroma that go.mod
// names, and with -update copies them.
func TestLexersAreCurrent(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(string(out))
	want := map[string]string{"LICENSE": filepath.Join(module, "COPYING")}
	for _, l := range languages {
		if l.lexer != "" {
			want[l.lexer+".xml"] = filepath.Join(module, "lexers", "embedded", l.lexer+".xml")
		}
	}
	for name, source := range want {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join("lexers", name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(filepath.Join("lexers", name)); err != nil || !bytes.Equal(have, text) {
			t.Errorf("lexers/%s is not the file of the module; run 'make generate'", name)
		}
	}
	entries, err := os.ReadDir("lexers")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if want[e.Name()] == "" {
			t.Errorf("no language uses lexers/%s", e.Name())
		}
	}
}
