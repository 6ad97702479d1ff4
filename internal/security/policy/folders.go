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
	"github.com/pawl-dev/pawl/internal/weak"
)

// directories are those that sandboxes write to besides the workspace. They are pawl's
// own, below its cache directory, and nobody else can look into them.
type folders struct{ cache string }

// temp is a session's directory for temporary files, which is /tmp in its sandboxes.
func (f folders) temp(id pawl.SessionID) (string, error) {
	if !id.Valid() {
		return "", fmt.Errorf("no session is called %q", id)
	}
	return f.private("tmp", string(id))
}

// shared is what programs keep in caches for a workspace: the next command finds
// it. Those of the user are not to be written, and another workspace has its own.
func (f folders) shared(dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	return f.private("box", hex.EncodeToString(sum[:8]))
}

// Cache is where programs keep their caches when they run in a workspace's sandbox.
func (s *Safety) Cache(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return s.folder.shared(dir)
}

// DropCache removes what programs have cached for a workspace that is about to go.
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

// private makes a directory that is ours alone. One that is a link, or that others
// may write to, was put there by somebody: it is an error.
func (f folders) private(names ...string) (string, error) {
	if err := os.MkdirAll(f.cache, 0o700); err != nil {
		return "", fmt.Errorf("make a private folder: %w", err)
	}
	info, err := os.Stat(f.cache) // people put their caches elsewhere, by a link
	if err != nil {
		return "", fmt.Errorf("make a private folder: %w", err)
	}
	if !ours(info, 0o022) {
		return "", fmt.Errorf("%s can be written to by others (%s): 'chmod 700' it if it is yours: %w", f.cache, info.Mode(), pawl.ErrDenied)
	}
	path := f.cache
	for _, name := range names {
		path = filepath.Join(path, name)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("make a private folder: %w", err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			return "", fmt.Errorf("make a private folder: %w", err)
		}
		if !ours(info, 0o077) {
			return "", fmt.Errorf("%s is not a folder of yours alone (%s): look who made it, and remove it: %w", path, info.Mode(), pawl.ErrDenied)
		}
	}
	return path, nil
}

// ours reports whether something is a directory of this user's, of whose mode
// others have none of these bits.
func ours(info fs.FileInfo, others fs.FileMode) bool {
	if weak.On("folders.private") {
		return true
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return info.IsDir() && info.Mode().Perm()&others == 0 && ok && int(owner.Uid) == os.Geteuid()
}

// drop removes a session's temporary files.
func (f folders) drop(id pawl.SessionID) {
	if !id.Valid() {
		return
	}
	remove(filepath.Join(f.cache, "tmp", string(id)))
}

// remove removes a directory of ours.
func remove(path string) {
	if os.RemoveAll(path) == nil {
		return
	}
	// Some programs leave directories that cannot be written to.
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // it is about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(path) // what is left is nobody's but pawl's, and goes with its cache
}
