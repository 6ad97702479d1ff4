package app

import (
	"os"
	"path/filepath"
)

// WorkingDir returns the working directory with symbolic links resolved.
func WorkingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
