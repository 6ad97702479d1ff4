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
)

// How the names of pawl's own files begin, beside the worktrees.
const (
	prefixMaking  = ".making-" // a worktree that is not whole yet
	prefixApart   = ".apart-"  // an index, and files for git
	prefixRemoved = ".gone-"   // a worktree that is being removed
)

const (
	maxTries  = 5     // of what another process may be in the way of
	maxUnlock = 1_000 // directories deep that are made writable
)

// held is a directory that is in use: as long as this process lives, Sweep leaves it
// alone.
type held struct {
	path string
	lock *os.File
}

// hold makes a directory that is in use.
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
	return nil, fmt.Errorf("folders in %s are removed as soon as they are made: does another program clean up there? %w", t.Dir, pawl.ErrUnavailable)
}

// lock takes a directory into use. It returns nil if another process has it, or if
// it does not exist.
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
	if err1 != nil || err2 != nil || !os.SameFile(opened, there) { // removed meanwhile
		h.release()
		return nil
	}
	return h
}

func (h *held) release() { _ = h.lock.Close() } // it was opened for its lock only

// Remove removes a worktree, whatever its worker has made of it. If none exists
// that is fine.
func (t *Trees) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(t.Path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// What has its name is whole; this is not from here on.
	h, err := t.hold(prefixRemoved)
	if err != nil {
		return fmt.Errorf("remove workplace %s: %w", t.Path(name), err)
	}
	defer h.release()
	removed := filepath.Join(h.path, "gone")
	if err := move(t.Path(name), removed); err != nil {
		return fmt.Errorf("remove workplace %s: %w", t.Path(name), errors.Join(err, os.Remove(h.path)))
	}
	t.reach("moved")
	if err := removeAll(h.path); err != nil {
		return fmt.Errorf("remove workplace %s: %w", t.Path(name), err)
	}
	return nil
}

// move renames a directory. One that may not be written to cannot be moved
// elsewhere, as it names the directory that it is in.
func move(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else has removed it
	}
	if errors.Is(err, fs.ErrPermission) {
		if root, opened := os.OpenRoot(filepath.Dir(from)); opened == nil {
			_ = root.Chmod(filepath.Base(from), 0o700) // the next try tells
			_ = root.Close()
		}
		err = os.Rename(from, to)
	}
	return err
}

// removeAll removes a directory and all below it, also what is read-only, as caches
// are. It never follows a link out of it.
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

// unlock makes directories writable. Whatever fails shows when they are removed.
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

// Sweep removes the worktrees that are not to be kept, and what killed processes
// have left behind. What another process is at work on is left alone. It returns
// the worktrees that no longer exist, and goes on after a failure.
func (t *Trees) Sweep(ctx context.Context, keep func(name string) bool) (removed []string, err error) {
	entries, err := os.ReadDir(t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep workplaces: %w", err)
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

// sweep removes what a process has left, unless it lives.
func (t *Trees) sweep(name string) error {
	path := filepath.Join(t.Dir, name)
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return os.Remove(path) // contents whose process died before they lost their name
	}
	h := lock(path)
	if h == nil {
		return nil
	}
	defer h.release()
	if err := removeAll(path); err != nil {
		return fmt.Errorf("sweep %s: %w", path, err)
	}
	return nil
}
