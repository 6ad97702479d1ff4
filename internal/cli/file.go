package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ReplaceFile replaces a file atomically: readers see either the old or the new content, and an error
// leaves the old content in place. Files that are not regular, such as /dev/stdout, are written
// directly.
func ReplaceFile(path string, text []byte) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path // it does not exist yet
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(real); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(real, text, mode) //nolint:gosec // the user's own file
		}
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(real), ".pawl-"+rand.Text())
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // the user's own file
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temp, real)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(temp)))
	}
	return nil
}
