// Package snapshot records the content of a directory at points in time, so that
// the changes of a tool call can be shown and undone: also those of commands, and
// in directories that are no git repositories.
//
// A snapshot is a tree in a bare git repository that pawl owns, one for each
// directory. A table next to the repository caches the size, times and inode of
// every file, so that a directory without changes is walked but not read.
// docs/how-to/undo.md says which files are left out of snapshots, and why such files
// never count as deleted.
package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// Default limits of Config.
const (
	defaultMaxFile  = 10 << 20
	defaultMaxFiles = 200_000
	defaultMaxBytes = 4 << 30
)

// ID identifies a snapshot: the id of a git tree in hex; "" means none. Snapshots
// of a directory with equal IDs have equal content. Changes may still find no
// difference between two IDs: they can differ in files that are left out.
type ID string

// valid returns an error if id is not a well-formed tree id.
func (id ID) valid() error {
	if len(id) != 2*len(oid{}) || strings.Trim(string(id), "0123456789abcdef") != "" {
		return fault.New(pawl.ErrInvalid, "invalid checkpoint id %.50q", string(id))
	}
	return nil
}

// Config configures a Store.
type Config struct {
	Dir      string // pawl's directory for snapshots
	Git      *git.Git
	MaxFile  int64            // bytes; larger files are left out; 0 means 10 MiB
	MaxFiles int              // Take fails with ErrTooLarge for more files; 0 means 200,000
	MaxBytes int64            // Take fails with ErrTooLarge for a larger total size; 0 means 4 GiB
	Except   []string         // other directories of pawl, which are left out of every snapshot
	Clock    func() time.Time // nil means time.Now
}

// Store stores snapshots. It is safe for concurrent use, also by several processes
// with the same Config.
type Store struct {
	Config

	mu      sync.Mutex
	folders map[string]chan struct{} // lock of each directory among the goroutines of this process
	tables  map[string]*readTable    // cache of tables by store directory
	trace   func(point string)       // for tests: called before each side effect and after the last one
}

// reach reports progress to a test.
func (s *Store) reach(point string) {
	if s.trace != nil {
		s.trace(point)
	}
}

// Open returns a store. It creates no files.
func Open(c Config) (*Store, error) {
	if c.Git == nil || !filepath.IsAbs(c.Dir) {
		return nil, fault.New(pawl.ErrInvalid, "open checkpoints: git and an absolute directory are required")
	}
	c.MaxFile = cmp.Or(c.MaxFile, defaultMaxFile)
	c.MaxFiles = cmp.Or(c.MaxFiles, defaultMaxFiles)
	c.MaxBytes = cmp.Or(c.MaxBytes, defaultMaxBytes)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Store{Config: c, folders: map[string]chan struct{}{}, tables: map[string]*readTable{}}, nil
}

// ErrTooLarge means that a directory exceeds MaxFiles or MaxBytes.
var ErrTooLarge = errors.New("too large for checkpoints")

// ErrLost means that a snapshot was deleted by GC.
var ErrLost = errors.New("the checkpoint was deleted")

// LostError names a snapshot that was deleted by GC. It wraps ErrLost.
type LostError struct {
	ID  ID
	Dir string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("checkpoint %.12s of %s was deleted to free space, so later changes cannot be shown or undone", e.ID, e.Dir)
}

func (e *LostError) Unwrap() error { return ErrLost }

// Broken means that the snapshots of a directory are damaged.
type Broken struct {
	Dir   string // the directory of the snapshots
	Store string // the directory where they are stored
	Err   error
}

func (e *Broken) Error() string {
	return fmt.Sprintf("the checkpoints of %s in %s are damaged (`pawl gc` deletes them): %v", e.Dir, e.Store, e.Err)
}

func (e *Broken) Unwrap() error { return e.Err }

// Take records the current content of dir and returns the snapshot's ID. The
// snapshot is kept as long as its owner keeps snapshots (see Forget and GC). Files
// that change during the call are recorded as they were read. If dir has not
// changed, Take walks it but does not run git.
func (s *Store) Take(ctx context.Context, dir string, owner pawl.SessionID) (ID, error) {
	if !owner.Valid() {
		return "", fault.New(pawl.ErrInvalid, "create checkpoint: invalid session id %.50q", string(owner))
	}
	f, err := s.lock(ctx, dir, create)
	if err != nil {
		return "", fmt.Errorf("create checkpoint: %w", err)
	}
	defer f.unlock()
	id, err := f.take(ctx)
	if err == nil {
		err = f.hold(owner, id)
	}
	if err != nil {
		return "", fmt.Errorf("create checkpoint of %s: %w", f.dir, err)
	}
	return id, nil
}

// realDir returns the real path of dir. If dir no longer exists it returns the
// absolute path, so that its snapshots can still be read.
func realDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return real, err
}
