package permission

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPure: a decision that looked at the disk, the network or the clock could
// change between the asking and the running. Only the file of grants is one.
func TestPure(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "store.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains([]string{"os", "os/exec", "syscall", "path/filepath", "io/fs", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand"}, path) {
				t.Errorf("%s imports %s", name, path)
			}
			// Of our own packages it may import those that parse and format data, without I/O; the names of protect are a table.
			own := []string{"github.com/pawl-dev/pawl/internal/fault", "github.com/pawl-dev/pawl/internal/strictjson", "github.com/pawl-dev/pawl/internal/security/protect", "github.com/pawl-dev/pawl/internal/security/sanitize", "github.com/pawl-dev/pawl/internal/tool/toolapi"}
			if strings.HasPrefix(path, "github.com/pawl-dev/pawl/") && !slices.Contains(own, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
