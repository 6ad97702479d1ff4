package redact

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSourceCode: in the Go files of pawl and of the standard library nothing is
// taken for a credential, but for what the library's tests hold.
func TestSourceCode(t *testing.T) {
	t.Parallel()
	for _, root := range []struct {
		dir   string
		least int
		tests bool
	}{{filepath.Join("..", ".."), 500, true}, {filepath.Join(build.Default.GOROOT, "src"), 3000, false}} {
		files := 0
		err := filepath.WalkDir(root.dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata" && !root.tests:
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") && !root.tests:
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			hits, _ := patterns.all.find(text{string(data), true}, 0)
			for _, h := range hits {
				t.Errorf("%s: %s in place of %q", path, h.mask, data[h.from:h.to])
			}
			return nil
		})
		if err != nil || files < root.least {
			t.Errorf("%s: %d files, %v", root.dir, files, err)
		}
	}
}
