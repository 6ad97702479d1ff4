package transaction

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// keepFor is how long replaced and deleted files stay after a transaction: a program
// that had one open may still have written to it.
const keepFor = 10 * time.Minute

// Store has the transactions of a user on this machine.
type Store struct {
	dir string

	recovering sync.Mutex
	recovered  bool

	applying sync.Mutex // held while changes are applied
	own      map[string][]tree.Identity

	users users
}

// Open returns the store in a directory, which need not exist.
func Open(dir string) *Store {
	return &Store{dir: dir, own: map[string][]tree.Identity{}}
}

// Begin starts a transaction on a directory, which is given by its real path. It first
// completes or discards those that a crash has interrupted.
func (s *Store) Begin(ctx context.Context, root string) (t *Transaction, err error) {
	if err := s.Recover(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	t = &Transaction{store: s, root: root, dir: filepath.Join(s.dir, strings.ToLower(rand.Text()))}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	t.live = s.users.enter(root)
	if t.lock, err = lock(filepath.Join(t.dir, lockName), os.O_CREATE); err == nil {
		for _, dir := range []string{t.Upper(), t.Work(), t.Mask(), t.Merged()} {
			err = errors.Join(err, os.Mkdir(dir, 0o700))
		}
	}
	if err == nil {
		err = copyMode(root, t.Upper())
	}
	if err == nil {
		t.since, err = tree.Now(root)
	}
	if err != nil {
		t.live.leave()
		t.Close()
		remove(t.dir)
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	return t, nil
}

// copyMode gives a directory the mode of another one: the root of a view has that of
// its upper directory.
func copyMode(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm())
}

// Share tells that another process can write to files of a directory until the
// returned function is called, such as a background job.
func (s *Store) Share(root string) (leave func()) { return s.users.enter(root).leave }

// Recover completes the transactions that a crash has interrupted while they applied,
// discards the others, and removes what is no longer needed. It does so once.
func (s *Store) Recover(ctx context.Context) error {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	if s.recovered {
		return nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("recover transactions: %w", err)
	}
	for _, e := range entries {
		dir := filepath.Join(s.dir, e.Name())
		if err := recoverOne(ctx, dir); err != nil {
			return fault.New(nil, "complete the changes of an interrupted command: %w", err).Hint("Remove %s to discard them.", dir)
		}
	}
	s.recovered = true
	return nil
}

// recoverOne handles the transaction in a directory, unless it is in use.
func recoverOne(ctx context.Context, dir string) error {
	held, err := lock(filepath.Join(dir, lockName), 0)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	}
	if info, statErr := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && (statErr != nil || time.Since(info.ModTime()) < keepFor) {
		return nil // another process begins or ends it
	} else if errors.Is(err, fs.ErrNotExist) {
		remove(dir)
		return nil
	}
	if err != nil {
		return err
	}
	defer held.Close() //nolint:errcheck // nothing was written
	at := filepath.Join(dir, applyName)
	if info, err := os.Lstat(at); err == nil {
		if _, err := tree.Resume(ctx, at); err != nil && !errors.Is(err, tree.ErrNotStarted) {
			return err
		}
		for _, name := range []string{upperName, workName, maskName, mergedName} {
			remove(filepath.Join(dir, name))
		}
		if time.Since(info.ModTime()) < keepFor {
			return nil
		}
	}
	remove(dir)
	return nil
}

// lock opens a file and locks it until it is closed, or until this process ends.
func lock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// remove removes a directory tree, if need be by making it writable first.
func remove(path string) {
	if os.RemoveAll(path) == nil {
		return
	}
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // it is about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(path) // Recover tries again
}
