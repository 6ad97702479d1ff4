package policy

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestPlantedFolders: a directory that somebody else has put there is not used.
func TestPlantedFolders(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(cache string) error{
		"nothing":  func(string) error { return nil },
		"a link":   func(cache string) error { return os.Symlink(t.TempDir(), filepath.Join(cache, "tmp")) },
		"a file":   func(cache string) error { return os.WriteFile(filepath.Join(cache, "tmp"), nil, 0o600) },
		"open":     func(cache string) error { return os.Mkdir(filepath.Join(cache, "tmp"), 0o755) },
		"the link": func(cache string) error { return errors.Join(os.Remove(cache), os.Symlink(t.TempDir(), cache)) },
		"writable": func(cache string) error { return os.Chmod(cache, 0o777) }, //nolint:gosec // that is what is tried
	} {
		t.Run(name, func(t *testing.T) {
			cache := filepath.Join(t.TempDir(), "cache")
			if err := errors.Join(os.Mkdir(cache, 0o700), plant(cache)); err != nil {
				t.Fatal(err)
			}
			path, err := privateDirs{cache}.temp("01JD0000000000000000000000")
			if fine := name == "nothing" || name == "the link"; fine != (err == nil) || !fine && !errors.Is(err, pawl.ErrDenied) {
				t.Errorf("%q, %v", path, err)
			}
		})
	}
}
