package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// privateDirs manages the directories that sandboxes write to besides the workspace.
// They are in pawl's cache directory, and only its user can read them.
type privateDirs struct{ cache string }

// temp returns a session's directory for temporary files, which its sandboxes see as
// /tmp.
func (f privateDirs) temp(id pawl.SessionID) (string, error) {
	if !id.Valid() {
		return "", fmt.Errorf("invalid session id %q", id)
	}
	return f.private("tmp", string(id))
}

// shared returns the directory for the caches of programs in a workspace, which its
// commands share. They must not write the user's caches or those of other workspaces.
func (f privateDirs) shared(dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	return f.private("box", hex.EncodeToString(sum[:8]))
}

// Cache returns the directory for the caches of programs in a workspace's sandbox.
func (s *Safety) Cache(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return s.dirs.shared(dir)
}

// DropCache removes the caches of a workspace, before it is removed itself.
func (s *Safety) DropCache(dir string) error {
	cache, err := s.Cache(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		remove(cache)
	}
	return err
}

// private creates a directory that only its owner can access. An existing one that
// is a link, or that others may write to, is an error: somebody else put it there.
func (f privateDirs) private(names ...string) (string, error) {
	if err := os.MkdirAll(f.cache, 0o700); err != nil {
		return "", fmt.Errorf("create a private directory: %w", err)
	}
	info, err := os.Stat(f.cache) // people put their caches elsewhere, by a link
	if err != nil {
		return "", fmt.Errorf("create a private directory: %w", err)
	}
	if !ours(info, 0o022) {
		return "", fault.New(pawl.ErrDenied, "%s is writable by other users (%s)", f.cache, info.Mode()).Hint("If it is yours, run `chmod 700` on it.")
	}
	path := f.cache
	for _, name := range names {
		path = filepath.Join(path, name)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("create a private directory: %w", err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			return "", fmt.Errorf("create a private directory: %w", err)
		}
		if !ours(info, 0o077) {
			return "", fault.New(pawl.ErrDenied, "%s is not a private directory of the current user (%s)", path, info.Mode()).Hint("Check who created it, and remove it.")
		}
	}
	return path, nil
}

// ours reports whether info is a directory of this user that has none of the mode
// bits in others.
func ours(info fs.FileInfo, others fs.FileMode) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return info.IsDir() && info.Mode().Perm()&others == 0 && ok && int(owner.Uid) == os.Geteuid()
}

// drop removes a session's temporary files.
func (f privateDirs) drop(id pawl.SessionID) {
	if !id.Valid() {
		return
	}
	remove(filepath.Join(f.cache, "tmp", string(id)))
}

// remove removes a directory tree, if need be by making it writable first.
func remove(path string) {
	if os.RemoveAll(path) == nil {
		return
	}
	// Some programs leave read-only directories.
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // it is about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(path) // what remains is in pawl's cache, and is removed with it
}
