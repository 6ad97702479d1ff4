package app

import (
	"os"
	"path/filepath"
)

// WorkingDir is the directory that pawl was started in.
func WorkingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
