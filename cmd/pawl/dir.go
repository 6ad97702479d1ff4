package main

import (
	"os"
	"path/filepath"
)

// workingDir is the directory that pawl was started in.
func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
