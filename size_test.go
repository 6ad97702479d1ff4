package pawl_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// Limits that keep the layout easy to read with ls.
const (
	maxInternal = 26 // entries of internal/
	maxMain     = 60 // lines of Go in cmd/pawl
	maxFiles    = 45 // Go files of a package, tests apart
)

// TestSize checks the bounds of the layout, and that product code has no switches that weaken it for tests: weakened
// programs are built with an overlay (internal/test/security).
func TestSize(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > maxInternal {
		t.Errorf("internal/ has %d entries, want %d at most: put the new package into a group", len(entries), maxInternal)
	}
	files, mainLines := map[string]int{}, 0
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
			continue
		}
		text, err := fs.ReadFile(os.DirFS("."), name)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(name)
		files[dir]++
		if dir == "cmd/pawl" {
			mainLines += bytes.Count(text, []byte("\n"))
		}
		if bytes.Contains(text, []byte("weak"+".On(")) {
			t.Errorf("%s has a switch for tests: describe the weakened program in internal/test/security instead", name)
		}
	}
	if mainLines == 0 || mainLines > maxMain {
		t.Errorf("cmd/pawl has %d lines, want 1 to %d: wiring belongs in internal/app and internal/cli", mainLines, maxMain)
	}
	for dir, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d files, want %d at most: split the package", dir, n, maxFiles)
		}
	}
}
