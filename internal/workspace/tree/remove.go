package tree

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll removes a directory tree that belongs to Pawl, if need be by making its directories writable first. What remains after
// that is removed by the next attempt.
func RemoveAll(path string) {
	if os.RemoveAll(path) == nil {
		return
	}
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // it is about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(path)
}
