package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// Names of files and refs in a directory's store.
const (
	repoName  = "repo"  // the bare git repository
	tableName = "table" // the cached file metadata
	pathName  = "path"  // the path of the directory, for people and for GC
	lockName  = "lock"
	asideName = "aside" // copies of files that an undo replaced

	refsNow    = "refs/now"  // the tree that the table describes
	refsOwners = "refs/pawl" // below it: owner/tree
)

// lockPoll is the interval between attempts to get a lock that another process
// holds.
const lockPoll = 5 * time.Millisecond

// The locked store of one directory's snapshots.
type folder struct {
	*Store

	dir  string // real path of the directory that the snapshots are of
	at   string // path of the store
	repo *git.Own
	file *os.File // the lock file
	slot chan struct{}
}

// making says whether lock creates a store that does not exist.
type making bool

const (
	create making = true
	exists making = false
)

// lock locks the store of dir. It returns pawl.ErrNotFound if the store does not
// exist and m is not create.
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

// Path returns the path of the store for dir, which must be a real path.
func (s *Store) Path(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16]))
}

// lockAt locks the store at a path: with a channel against other goroutines, and
// with a file lock against other processes.
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

// lockFile locks the lock file. GC may remove it together with the store during the
// wait; then lockFile tries again with a new one.
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
			return fault.New(pawl.ErrNotFound, "no checkpoints found")
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

// current reports whether the locked file is still the one at its path.
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
	_ = f.file.Close() // releases the file lock
	<-f.slot
}

func (f *folder) path(names ...string) string {
	return filepath.Join(append([]string{f.at}, names...)...)
}

// prepare initializes the repository if it does not exist and m is create. It
// writes the file with the directory's path last: if that file exists, the rest is
// complete.
func (f *folder) prepare(ctx context.Context, m making) error {
	if text, err := os.ReadFile(f.path(pathName)); err == nil && string(text) == f.dir {
		return nil
	}
	if m != create {
		return fault.New(pawl.ErrNotFound, "no checkpoints of %s found", f.dir)
	}
	f.reach("init")
	if err := f.repo.Init(ctx); err != nil {
		return err
	}
	return f.replace(f.path(pathName), []byte(f.dir))
}

// replace writes a file of the store atomically.
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

// ref returns the path of the file that holds a ref. The refs of this repository
// are never packed, so a ref exists if and only if its file does.
func (f *folder) ref(name string) string { return f.path(repoName, filepath.FromSlash(name)) }

func (f *folder) setRef(name string, id ID) error {
	path := f.ref(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return f.replace(path, []byte(string(id)+"\n"))
}

// readRef returns the value of a ref, or "" if it does not exist.
func (f *folder) readRef(name string) ID {
	text, err := os.ReadFile(f.ref(name))
	id := ID(strings.TrimSuffix(string(text), "\n"))
	if err != nil || id.valid() != nil {
		return ""
	}
	return id
}

// hold makes owner keep a snapshot, and sets the time of its last use, which is the
// modification time of the ref.
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

// owners returns the sessions that keep snapshots of the directory.
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

// held reports whether any session keeps the snapshot, or the table refers to it.
func (f *folder) held(id ID) bool {
	owners, _ := f.owners()
	return f.readRef(refsNow) == id || slices.ContainsFunc(owners, func(o pawl.SessionID) bool {
		return f.readRef(refsOwners+"/"+string(o)+"/"+string(id)) == id
	})
}

// fault turns an error from git that concerns the snapshots ids into a *LostError
// if one of them was deleted, or else a *Broken error if git failed.
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
