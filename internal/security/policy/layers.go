package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// layers are the copy-on-write views of caches for one command. What it writes is kept
// in the directory of its owner for the next command. If another command of the owner
// runs, the kernel cannot let both write there: the second one reads what is kept, and
// what it writes is dropped.
type layers struct {
	views []sandbox.View
	dir   string
	locks []*os.File
}

// opening is held while layers are created or removed.
var opening sync.Mutex

// openLayers creates the views of caches in own, the directory of their owner. If keep is
// false, what the command writes is dropped.
func openLayers(own string, list []userCache, keep bool) (l *layers, err error) {
	opening.Lock()
	defer opening.Unlock()
	l = &layers{}
	defer func() {
		if err != nil {
			l.remove()
		}
	}()
	open := filepath.Join(own, "open")
	for _, dir := range []string{open, filepath.Join(own, "kept")} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return l, err
		}
	}
	removeAbandoned(open)
	if l.dir, err = os.MkdirTemp(open, ""); err != nil {
		return l, err
	}
	if _, err := l.lock(l.dir); err != nil {
		return l, err
	}
	if keep {
		if keep, err = l.lock(filepath.Join(own, "kept")); err != nil {
			return l, err
		}
	}
	for _, c := range list {
		v, err := l.view(own, c.dir, keep)
		if err != nil {
			return l, err
		}
		l.views = append(l.views, v)
	}
	return l, nil
}

// view creates the directories of a view.
func (l *layers) view(own, dir string, keep bool) (sandbox.View, error) {
	sum := sha256.Sum256([]byte(dir))
	name := filepath.Base(dir) + "-" + hex.EncodeToString(sum[:4])
	at := filepath.Join(l.dir, name)
	v := sandbox.View{Dir: dir, Mask: filepath.Join(at, "mask"), Upper: filepath.Join(own, "kept", name), Work: filepath.Join(at, "work"), Merged: filepath.Join(at, "merged")}
	made := []string{at, v.Mask, v.Upper, v.Work, v.Merged}
	if !keep {
		v.Mask, v.Upper = v.Upper, filepath.Join(at, "upper")
		made = append(made, v.Upper)
	}
	for _, path := range made {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return v, err
		}
	}
	return v, nil
}

// lock locks a directory until the layers are closed. It returns false if somebody else
// has locked it.
func (l *layers) lock(dir string) (bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		_ = f.Close() // it is not locked
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = nil
		}
		return false, err
	}
	l.locks = append(l.locks, f)
	return true, nil
}

// close removes the views. The command has ended.
func (l *layers) close() {
	opening.Lock()
	defer opening.Unlock()
	l.remove()
}

func (l *layers) remove() {
	if l.dir != "" {
		tree.RemoveAll(l.dir)
	}
	for _, f := range l.locks {
		_ = f.Close() // which also unlocks it
	}
	l.dir, l.locks = "", nil
}

// removeAbandoned removes the views of commands whose Pawl was killed.
func removeAbandoned(open string) {
	entries, _ := os.ReadDir(open) // they are removed the next time
	for _, e := range entries {
		l := layers{dir: filepath.Join(open, e.Name())}
		if free, err := l.lock(l.dir); err == nil && free {
			l.remove()
		}
	}
}
