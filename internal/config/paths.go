// Package config locates pawl's files, and reads its configuration from three sources:
// the administrator's policy, which takes precedence over everything; the user's
// configuration; and the project's, which may only make pawl stricter. It reads no
// variables from files such as .env.
package config

import (
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/namespace"
)

// Store returns the location of the log: PAWL_STORE (a postgres:// URL or a path), or a
// SQLite file in the data directory.
func Store() (string, error) {
	if ref := os.Getenv("PAWL_STORE"); ref != "" {
		return ref, nil
	}
	data, err := Data()
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "pawl.db"), nil
}

// Data returns pawl's data directory: PAWL_DATA, or pawl below XDG_DATA_HOME or ~/.local/share.
func Data() (string, error) {
	if dir := os.Getenv("PAWL_DATA"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(pawl.ErrInvalid, "find the data directory: %w", err).Hint("Set HOME or PAWL_DATA.")
	}
	return filepath.Join(home, ".local", "share", "pawl"), nil
}

// Worktrees returns the directory of the worktrees of missions, in the data directory. It
// has a subdirectory for each repository.
func Worktrees() (string, error) {
	data, err := Data()
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(data, "worktrees"))
}

// Isolated returns the directory of the views of isolated sessions.
func Isolated() (string, error) {
	data, err := Data()
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(data, "isolated"))
}

// Transactions returns the directory of the transactions of commands. An isolated process
// has them in its view: another process would complete them in the project itself.
func Transactions() (string, error) {
	if view := os.Getenv(namespace.IsolatedVar); view != "" {
		dir, err := Isolated()
		return filepath.Join(dir, view, "transactions"), err
	}
	data, err := Data()
	return filepath.Join(data, "transactions"), err
}

// Cache returns pawl's cache directory: PAWL_CACHE, or pawl below XDG_CACHE_HOME or
// ~/.cache. Its content may be deleted at any time.
func Cache() (string, error) {
	if dir := os.Getenv("PAWL_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(pawl.ErrInvalid, "find the cache directory: %w", err).Hint("Set HOME or PAWL_CACHE.")
	}
	return filepath.Join(home, ".cache", "pawl"), nil
}
