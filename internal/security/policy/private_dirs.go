package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// privateDirs manages the directories that sandboxes write to besides the workspace.
// They are in pawl's cache directory, and only its user can read them.
type privateDirs struct{ cache string }

// temp returns a session's directory for temporary files, which its sandboxes see as
// /tmp. It is one for all commands of a session, because models write a file there with
// one command and read it with the next.
func (f privateDirs) temp(id pawl.SessionID) (string, error) {
	if !id.Valid() {
		return "", fmt.Errorf("invalid session id %q", id)
	}
	return f.private("tmp", string(id))
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

// drop removes a session's temporary files and caches.
func (f privateDirs) drop(id pawl.SessionID) {
	if !id.Valid() {
		return
	}
	tree.RemoveAll(filepath.Join(f.cache, "tmp", string(id)))
	tree.RemoveAll(filepath.Join(f.cache, "box", string(id)))
}
