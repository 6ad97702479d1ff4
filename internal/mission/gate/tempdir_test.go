package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTempDirs checks that a directory of a gate that was killed is removed, and one that is in use stays.
func TestTempDirs(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	used, held, err := TempDir(parent)
	fatal(t, err)
	defer func() { fatal(t, held.Close()) }()
	killed, lock, err := TempDir(parent)
	fatal(t, err)
	fatal(t, os.MkdirAll(filepath.Join(killed, "tree"), 0o700))
	fatal(t, os.WriteFile(filepath.Join(killed, "tree", "file"), nil, 0o400))
	fatal(t, os.Chmod(filepath.Join(killed, "tree"), 0o500)) //nolint:gosec // as a module cache
	fatal(t, lock.Close())                                   // as the end of a process does
	for _, other := range []string{"pawl-gate-seed-0", "pawl-gate-", "other-1"} {
		fatal(t, os.Mkdir(filepath.Join(parent, other), 0o700))
	}
	fatal(t, os.Symlink(used, filepath.Join(parent, "pawl-gate-7")))

	last, lock, err := TempDir(parent)
	fatal(t, err)
	fatal(t, (&Gate{Dir: last, Lock: lock}).Close())
	entries, err := os.ReadDir(parent)
	fatal(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"other-1", "pawl-gate-7", "pawl-gate-seed-0", filepath.Base(used)}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}
