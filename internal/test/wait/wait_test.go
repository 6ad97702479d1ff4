package wait_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	n := 0
	wait.Until(t, "the third time", func() bool { n++; return n == 3 })
	if n != 3 {
		t.Errorf("asked %d times", n)
	}
}

var (
	testFile = regexp.MustCompile(`(_test\.go|test/[^/]+\.go|internal/test/.+\.go)$`)
	sleep    = regexp.MustCompile(`^[^/]*time\.Sleep\([^/]*$`) // without a comment
)

// TestSleepsAreExplained: a sleep makes a test slow on a fast machine and red on a slow one. Tests use synctest's clock,
// or Until; another sleep says on its line why it is there.
func TestSleepsAreExplained(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "bin" || d.Name() == "dist") {
			return filepath.SkipDir
		}
		if d.IsDir() || !testFile.MatchString(filepath.ToSlash(path)) || filepath.Base(path) == "wait.go" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if strings.Contains(string(data), `"testing/synctest"`) {
			return nil
		}
		for n, line := range strings.Split(string(data), "\n") {
			if sleep.MatchString(line) {
				t.Errorf("%s:%d: time.Sleep without a reason: use wait.Until or testing/synctest, or add a comment", path, n+1)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("read %d test files: %v", files, err)
	}
}
