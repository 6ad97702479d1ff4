// Package snapshot keeps what a directory held at a time, so that what a call did
// can be shown and undone: commands included, and in directories that are no git
// repositories.
//
// A snapshot is a tree in a bare git repository of pawl, one for each
// directory. Beside it a table remembers what the files looked like, so that a
// directory that has not changed is only looked at. What is left out, and why a
// file is never taken for deleted because of that, is in docs/guide/undo.md.
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
	"github.com/pawl-dev/pawl/internal/git"
)

// Bounds of a directory, unless Config says otherwise.
const (
	defaultMaxFile  = 10 << 20
	defaultMaxFiles = 200_000
	defaultMaxBytes = 4 << 30
)

// ID names a snapshot: a git tree's id, in hex. "" is none. Snapshots of a
// directory with the same ID hold the same. Two that differ may still have no
// Changes between them: something that is left out has come or gone.
type ID string

// valid refuses what is no id.
func (id ID) valid() error {
	if len(id) != 2*len(oid{}) || strings.Trim(string(id), "0123456789abcdef") != "" {
		return fmt.Errorf("%.50q is not the id of a snapshot: %w", string(id), pawl.ErrInvalid)
	}
	return nil
}

// Config says where snapshots are kept and what they hold.
type Config struct {
	Dir      string // pawl's own directory for snapshots
	Git      *git.Git
	MaxFile  int64            // larger files are left out; 0 means 10 MiB
	MaxFiles int              // a directory with more is not taken; 0 means 200,000
	MaxBytes int64            // a directory whose files have more is not taken; 0 means 4 GiB
	Except   []string         // other directories of pawl: left out wherever they are met
	Clock    func() time.Time // nil means time.Now
}

// Store keeps snapshots. It is safe for concurrent use, also by several
// processes with the same Config.
type Store struct {
	Config

	mu      sync.Mutex
	folders map[string]chan struct{} // a slot for each directory that is locked by this process
	tables  map[string]*readTable    // the last that was read of each
	trace   func(point string)       // for tests: told before each effect, and after the last
}

// reach tells a test how far the store has come.
func (s *Store) reach(point string) {
	if s.trace != nil {
		s.trace(point)
	}
}

// Open returns a store. It makes nothing yet.
func Open(c Config) (*Store, error) {
	if c.Git == nil || !filepath.IsAbs(c.Dir) {
		return nil, fmt.Errorf("open snapshots: git and an absolute folder are needed: %w", pawl.ErrInvalid)
	}
	c.MaxFile = cmp.Or(c.MaxFile, defaultMaxFile)
	c.MaxFiles = cmp.Or(c.MaxFiles, defaultMaxFiles)
	c.MaxBytes = cmp.Or(c.MaxBytes, defaultMaxBytes)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Store{Config: c, folders: map[string]chan struct{}{}, tables: map[string]*readTable{}}, nil
}

// ErrTooLarge says that a directory has more in it than a snapshot may hold.
var ErrTooLarge = errors.New("too large for snapshots")

// ErrLost says that a snapshot does not exist any more.
var ErrLost = errors.New("the snapshot was cleaned up")

// LostError says which snapshot does not exist any more.
type LostError struct {
	ID  ID
	Dir string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("snapshot %s of %s is not there any more: it was cleaned up ('pawl gc'), so what was done since cannot be shown or undone", e.ID, e.Dir)
}

func (e *LostError) Unwrap() error { return ErrLost }

// Broken says that the snapshots of a directory cannot be read.
type Broken struct {
	Dir   string // the directory that they are of
	Store string // where they are
	Err   error
}

func (e *Broken) Error() string {
	return fmt.Sprintf("the snapshots of %s in %s are damaged: run 'pawl gc', which removes them: %v", e.Dir, e.Store, e.Err)
}

func (e *Broken) Unwrap() error { return e.Err }

// Take keeps what the directory holds now and returns the snapshot's ID. It stays
// there as long as its owner. Files that change meanwhile are taken as they
// were read. A directory that has not changed costs a walk and no git.
func (s *Store) Take(ctx context.Context, dir string, owner pawl.SessionID) (ID, error) {
	if !owner.Valid() {
		return "", fmt.Errorf("take snapshot: %.50q is no session: %w", string(owner), pawl.ErrInvalid)
	}
	f, err := s.lock(ctx, dir, create)
	if err != nil {
		return "", fmt.Errorf("take snapshot: %w", err)
	}
	defer f.unlock()
	id, err := f.take(ctx)
	if err == nil {
		err = f.hold(owner, id)
	}
	if err != nil {
		return "", fmt.Errorf("take snapshot of %s: %w", f.dir, err)
	}
	return id, nil
}

// realDir returns the directory without links. One that no longer exists is taken as it is
// spelled: its snapshots can still be read.
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
