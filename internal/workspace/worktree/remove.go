package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Name prefixes of pawl's own entries in Trees.Dir.
const (
	prefixMaking  = ".making-" // a worktree that is not complete yet
	prefixApart   = ".apart-"  // an index, and input files for git
	prefixRemoved = ".gone-"   // a worktree that is being removed
)

const (
	maxTries  = 5     // attempts of operations that another process may disturb
	maxUnlock = 1_000 // depth to which directories are made writable
)

// held is a locked directory. Sweep skips it as long as this process lives.
type held struct {
	path string
	lock *os.File
}

// hold creates and locks a directory with the given name prefix.
func (t *Trees) hold(prefix string) (*held, error) {
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return nil, err
	}
	for range maxTries {
		path, err := os.MkdirTemp(t.Dir, prefix)
		if err != nil {
			return nil, err
		}
		if h := lock(path); h != nil {
			return h, nil
		}
	}
	return nil, fault.New(pawl.ErrUnavailable, "directories in %s are removed as soon as they are created: another program may be cleaning up there", t.Dir)
}

// lock locks a directory. It returns nil if another process has locked it, or if it
// does not exist.
func lock(path string) *held {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	h := &held{path: path, lock: f}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = f.Close()
		return nil
	}
	opened, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	if err1 != nil || err2 != nil || !os.SameFile(opened, there) { // removed concurrently
		h.release()
		return nil
	}
	return h
}

func (h *held) release() { _ = h.lock.Close() } // it was only opened to lock it

// Remove removes a worktree, whatever a worker did to it. It is no error if it does
// not exist.
func (t *Trees) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(t.Path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// A worktree with its final name is complete, so move it before removing parts of it.
	h, err := t.hold(prefixRemoved)
	if err != nil {
		return fmt.Errorf("remove worktree %s: %w", t.Path(name), err)
	}
	defer h.release()
	removed := filepath.Join(h.path, "gone")
	if err := move(t.Path(name), removed); err != nil {
		return fmt.Errorf("remove worktree %s: %w", t.Path(name), errors.Join(err, os.Remove(h.path)))
	}
	t.reach("moved")
	if err := removeAll(h.path); err != nil {
		return fmt.Errorf("remove worktree %s: %w", t.Path(name), err)
	}
	return nil
}

// move renames a directory. It first makes the directory writable if that is
// needed: moving a directory changes its ".." entry. It is no error if from does
// not exist.
func move(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // already removed
	}
	if errors.Is(err, fs.ErrPermission) {
		if root, opened := os.OpenRoot(filepath.Dir(from)); opened == nil {
			_ = root.Chmod(filepath.Base(from), 0o700) // the rename below reports a failure
			_ = root.Close()
		}
		err = os.Rename(from, to)
	}
	return err
}

// removeAll removes a directory recursively, including read-only directories such
// as caches. It never follows a symbolic link out of it.
func removeAll(path string) error {
	var err error
	for range maxTries {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		if root, opened := os.OpenRoot(path); opened == nil {
			unlock(root, ".", 0)
			_ = root.Close()
		}
	}
	return err
}

// unlock makes directories writable. It ignores errors, which show when the
// directories are removed.
func unlock(root *os.Root, dir string, depth int) {
	if depth > maxUnlock {
		return
	}
	_ = root.Chmod(dir, 0o700)
	f, err := root.Open(dir)
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	_ = f.Close()
	for _, e := range entries {
		if e.IsDir() {
			unlock(root, filepath.Join(dir, e.Name()), depth+1)
		}
	}
}

// Sweep removes the worktrees for which keep returns false, and what killed
// processes left behind. It skips directories that other processes use, and
// continues after errors. It returns the names of the removed worktrees.
func (t *Trees) Sweep(ctx context.Context, keep func(name string) bool) (removed []string, err error) {
	entries, err := os.ReadDir(t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("clean up worktrees: %w", err)
	}
	var faults []error
	for _, e := range entries {
		if ctx.Err() != nil {
			return removed, context.Cause(ctx)
		}
		switch name := e.Name(); {
		case strings.HasPrefix(name, prefixMaking), strings.HasPrefix(name, prefixApart), strings.HasPrefix(name, prefixRemoved):
			faults = append(faults, t.sweep(name))
		case checkName(name) == nil && !keep(name):
			err := t.Remove(name)
			if err == nil {
				removed = append(removed, name)
			}
			faults = append(faults, err)
		}
	}
	return removed, errors.Join(faults...)
}

// sweep removes a leftover of a process, unless the process is alive.
func (t *Trees) sweep(name string) error {
	path := filepath.Join(t.Dir, name)
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return os.Remove(path) // a temporary file of contents whose process died before unlinking it
	}
	h := lock(path)
	if h == nil {
		return nil
	}
	defer h.release()
	if err := removeAll(path); err != nil {
		return fmt.Errorf("clean up %s: %w", path, err)
	}
	return nil
}
