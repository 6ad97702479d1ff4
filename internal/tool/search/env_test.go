package search

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// wide are limits that nothing in a test reaches.
var wide = Limits{Results: 100_000, LineChars: 500, Bytes: 1 << 20, FileBytes: 64 << 20, Time: time.Minute}

// engines are those that must give the same answers.
func engines(t *testing.T) map[string]Engine {
	t.Helper()
	programs := installed()
	if len(programs) == 0 {
		t.Fatal("ripgrep is not installed: without it nothing shows that both engines agree")
	}
	return map[string]Engine{"rg": Ripgrep(programs...), "own": Own()}
}

// folderOf makes a workspace. A name that ends in / is a directory; a text that
// begins with -> is a link.
func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	fill(t, dir, files)
	return dir
}

func fill(t interface{ Fatal(...any) }, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		to, link := strings.CutPrefix(text, "->")
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(t interface {
	Fatal(...any)
	Cleanup(func())
}, dir string) *workspace.Workspace {
	ws, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return ws
}

func names(t testing.TB, pattern string) Names {
	t.Helper()
	n, err := ParseNames(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pattern(t testing.TB, text string, opts Options) *Pattern {
	t.Helper()
	p, err := ParsePattern(text, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// output runs a program apart from the machine's settings. An exit code of 1
// is an answer: git's and ripgrep's for nothing.
func output(t interface{ Fatal(...any) }, dir string, args ...string) string {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(args, err)
	}
	return string(out)
}

// list splits what a program prints with -z or -0.
func list(out string) []string {
	return slices.Sorted(slices.Values(strings.FieldsFunc(out, func(r rune) bool { return r == 0 })))
}
