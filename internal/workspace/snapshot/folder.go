package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// The parts of a directory's store.
const (
	repoName  = "repo"  // the bare repository
	tableName = "table" // what the files looked like
	pathName  = "path"  // which directory it is, for people and for GC
	lockName  = "lock"
	asideName = "aside" // what an undo took out of the way

	refsNow    = "refs/now"  // the tree that the table is of
	refsOwners = "refs/pawl" // below it: owner/tree
)

// lockPoll is how often it is looked whether another process is done.
const lockPoll = 5 * time.Millisecond

// directory is a directory and where its snapshots are. It is locked.
type folder struct {
	*Store

	dir  string // the directory itself, its real path
	at   string // its store
	repo *git.Own
	file *os.File // that is locked
	slot chan struct{}
}

// making says whether a directory's store is made if none exists.
type making bool

const (
	create making = true
	exists making = false
)

// lock locks a directory's store. If none exists and it is not to be made it
// returns pawl.ErrNotFound.
func (s *Store) lock(ctx context.Context, dir string, m making) (*folder, error) {
	dir, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	f, err := s.lockAt(ctx, s.Path(dir), m)
	if err != nil {
		return nil, err
	}
	f.dir = dir
	if err := f.prepare(ctx, m); err != nil {
		f.unlock()
		return nil, err
	}
	return f, nil
}

// Path is where the store of a directory is, which is named by its real path.
func (s *Store) Path(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16]))
}

// lockAt locks a store by where it is: goroutines of this process by a slot,
// other processes by a lock on a file.
func (s *Store) lockAt(ctx context.Context, at string, m making) (*folder, error) {
	s.mu.Lock()
	slot := s.folders[at]
	if slot == nil {
		slot = make(chan struct{}, 1)
		s.folders[at] = slot
	}
	s.mu.Unlock()
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f := &folder{Store: s, at: at, slot: slot, repo: s.Git.Own(filepath.Join(at, repoName))}
	if err := f.lockFile(ctx, m); err != nil {
		<-slot
		return nil, err
	}
	return f, nil
}

// lockFile locks the file. It may be removed with its store while we wait: then
// it is made anew.
func (f *folder) lockFile(ctx context.Context, m making) error {
	for {
		flags := os.O_RDWR | syscall.O_NOFOLLOW
		if m == create {
			if err := os.MkdirAll(f.at, 0o700); err != nil {
				return err
			}
			flags |= os.O_CREATE
		}
		lock, err := os.OpenFile(filepath.Join(f.at, lockName), flags, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if m == create {
				continue // removed just now
			}
			return fmt.Errorf("there are no snapshots: %w", pawl.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if err := waitLock(ctx, lock); err != nil {
			return errors.Join(err, lock.Close())
		}
		if f.current(lock) {
			f.file = lock
			return nil
		}
		_ = lock.Close()
	}
}

// current reports whether the file that is locked is still the one to lock.
func (f *folder) current(lock *os.File) bool {
	ours, err1 := lock.Stat()
	there, err2 := os.Lstat(lock.Name())
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}

func waitLock(ctx context.Context, lock *os.File) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (f *folder) unlock() {
	_ = f.file.Close() // which lets go of it
	<-f.slot
}

func (f *folder) path(names ...string) string {
	return filepath.Join(append([]string{f.at}, names...)...)
}

// prepare makes the repository, if need be and wanted. The file with the
// directory's path is written last: where it stands, the rest was made.
func (f *folder) prepare(ctx context.Context, m making) error {
	if text, err := os.ReadFile(f.path(pathName)); err == nil && string(text) == f.dir {
		return nil
	}
	if m != create {
		return fmt.Errorf("there are no snapshots of %s: %w", f.dir, pawl.ErrNotFound)
	}
	f.reach("init")
	if err := f.repo.Init(ctx); err != nil {
		return err
	}
	return f.replace(f.path(pathName), []byte(f.dir))
}

// replace puts a file of the store in the place of what is there, or leaves all
// as it is.
func (f *folder) replace(path string, data []byte) error {
	f.reach("replace " + path)
	temp, err := os.CreateTemp(f.at, "temp-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	f.reach("rename " + path)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// ref is where a ref is kept, as a file. Nobody packs the refs of this
// repository, so a look at the file tells whether it is there.
func (f *folder) ref(name string) string { return f.path(repoName, filepath.FromSlash(name)) }

func (f *folder) setRef(name string, id ID) error {
	path := f.ref(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return f.replace(path, []byte(string(id)+"\n"))
}

// readRef returns what a ref holds, "" if it does not exist.
func (f *folder) readRef(name string) ID {
	text, err := os.ReadFile(f.ref(name))
	id := ID(strings.TrimSuffix(string(text), "\n"))
	if err != nil || id.valid() != nil {
		return ""
	}
	return id
}

// hold keeps a snapshot for its owner. The ref's time says when it was last
// wanted.
func (f *folder) hold(owner pawl.SessionID, id ID) error {
	name := refsOwners + "/" + string(owner) + "/" + string(id)
	if f.readRef(name) != id {
		if err := f.setRef(name, id); err != nil {
			return err
		}
	}
	now := f.Clock()
	return os.Chtimes(f.ref(name), now, now)
}

// owners returns who has snapshots here.
func (f *folder) owners() ([]pawl.SessionID, error) {
	entries, err := os.ReadDir(f.ref(refsOwners))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var owners []pawl.SessionID
	for _, e := range entries {
		if owner := pawl.SessionID(e.Name()); owner.Valid() {
			owners = append(owners, owner)
		}
	}
	return owners, nil
}

// held reports whether somebody keeps a snapshot.
func (f *folder) held(id ID) bool {
	owners, _ := f.owners()
	return f.readRef(refsNow) == id || slices.ContainsFunc(owners, func(o pawl.SessionID) bool {
		return f.readRef(refsOwners+"/"+string(o)+"/"+string(id)) == id
	})
}

// fault says what a failure of git means, with these snapshots at hand.
func (f *folder) fault(err error, ids ...ID) error {
	var failed *git.Failed
	if !errors.As(err, &failed) {
		return f.intact(err)
	}
	for _, id := range ids {
		if !f.held(id) {
			return &LostError{ID: id, Dir: f.dir}
		}
	}
	return f.broken(err)
}

func (f *folder) broken(err error) error { return &Broken{Dir: f.dir, Store: f.at, Err: err} }
