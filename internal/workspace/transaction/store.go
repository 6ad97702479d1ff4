package transaction

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// How long files stay after a transaction.
const (
	keepReplaced  = 10 * time.Minute   // a program that had one open may still have written to it
	keepConflicts = 7 * 24 * time.Hour // a person may want what was not applied
)

// Store has the transactions of a user on this machine.
type Store struct {
	dir string

	recovering sync.Mutex
	recovered  time.Time

	applying sync.Mutex // held while changes are applied
	own      map[string][]tree.Identity

	writers   writers
	followers followers
	records   records
}

// Open returns the store in a directory, which need not exist.
func Open(dir string) *Store {
	return &Store{dir: dir, own: map[string][]tree.Identity{}}
}

// Begin starts a transaction on a directory, which is given by its real path. It first
// completes or discards those that a crash has interrupted, and applies what jobs in the
// directory have written.
func (s *Store) Begin(ctx context.Context, root string) (*Transaction, error) {
	if err := s.Recover(ctx); err != nil {
		return nil, err
	}
	s.collect(ctx, root)
	return s.create(root)
}

// create creates the directories of a transaction.
func (s *Store) create(root string) (t *Transaction, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	t = &Transaction{store: s, root: root, dir: filepath.Join(s.dir, strings.ToLower(rand.Text()))}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	t.self = s.writers.enter(root)
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
		t.self.leave()
		t.Close()
		tree.RemoveAll(t.dir)
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
func (s *Store) Share(root string) (leave func()) { return s.writers.enter(root).leave }

// Recover completes the transactions that a crash or an error has interrupted while they
// applied, discards the others, and removes what is no longer needed. It looks again
// after keepReplaced.
func (s *Store) Recover(ctx context.Context) error {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	if time.Since(s.recovered) < keepReplaced {
		return nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("recover transactions: %w", err)
	}
	for _, e := range entries {
		if e.Name() == recordsName {
			continue
		}
		dir := filepath.Join(s.dir, e.Name())
		if err := recoverOne(ctx, dir); err != nil {
			return fault.New(nil, "complete the changes of an interrupted command: %w", err).Hint("Remove %s to discard them.", dir)
		}
	}
	if err := s.removeOldRecords(); err != nil {
		return fmt.Errorf("recover transactions: %w", err)
	}
	s.recovered = time.Now()
	return nil
}

// recoverAgain lets the next Recover look at all transactions.
func (s *Store) recoverAgain() {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	s.recovered = time.Time{}
}

// recoverOne handles the transaction in a directory, unless it is in use.
func recoverOne(ctx context.Context, dir string) error {
	held, err := lock(filepath.Join(dir, lockName), 0)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) >= keepReplaced {
			tree.RemoveAll(dir) // else another process begins or ends it
		}
		return nil
	case err != nil:
		return err
	}
	defer held.Close() //nolint:errcheck // nothing was written
	applied := filepath.Join(dir, applyName)
	info, err := os.Lstat(applied)
	if errors.Is(err, fs.ErrNotExist) {
		discard(dir)
		return nil
	}
	if err != nil {
		return err
	}
	age := time.Since(info.ModTime())
	done, err := tree.Resume(ctx, applied)
	switch {
	case errors.Is(err, tree.ErrNotStarted):
		discard(dir)
		return nil
	case errors.Is(err, tree.ErrRootLost):
		if age >= keepConflicts { // it may be on a disk that comes back
			tree.RemoveAll(dir)
		}
		return nil
	case err != nil:
		return err
	}
	closeRecord(dir, &done)
	removeView(dir)
	removeOld(dir, age, keepsContent(done))
	return nil
}

// discard removes a transaction of which nothing was applied.
func discard(dir string) {
	closeRecord(dir, nil)
	tree.RemoveAll(dir)
}

// removeOld removes what a finished transaction of an age keeps no longer.
func removeOld(dir string, age time.Duration, conflicts bool) {
	switch {
	case age < keepReplaced:
	case conflicts && age < keepConflicts:
		tree.RemoveAll(filepath.Join(dir, applyName, tree.TrashName))
	default:
		tree.RemoveAll(dir)
	}
}

// keepsContent reports whether content that was not applied was kept.
func keepsContent(done tree.Result) bool {
	return slices.ContainsFunc(done.Conflicts, func(c tree.Conflict) bool { return c.Kept != "" })
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
