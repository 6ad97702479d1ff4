package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// NamedDir returns the real path of a directory that a user has named: an absolute path,
// one relative to base, or one that begins with ~.
func NamedDir(base, name string) (string, error) {
	path := name
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", fault.New(pawl.ErrInvalid, "%s is not a directory", name)
	}
	return path, nil
}
