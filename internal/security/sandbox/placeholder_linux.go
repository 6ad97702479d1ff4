package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// placeholderTries bounds the retries after races with other processes.
const placeholderTries = 64

// placeholderLinger is how long an unused placeholder stays. Usually the next command
// needs it again: creating and removing it each time would be half the cost of a
// sandbox, and trigger everyone who watches the directory.
const placeholderLinger = 3 * time.Second

// placeholder is a placeholder that this process holds.
type placeholder struct {
	lock  int // a file descriptor
	id    inode
	users int
	since time.Time // when the last user released it
}

type inode struct{ device, number uint64 }

// placeholders are the placeholders that this process holds, by path.
var placeholders = struct {
	sync.Mutex
	held map[string]*placeholder
}{held: map[string]*placeholder{}}

// Release removes the unused placeholders of this process. Call it when the process
// ends; after a crash, the next sandbox in the workspace removes them.
func Release() { sweep(0) }

// holdPlaceholder acquires the placeholder at the path, and creates it if needed. It
// returns false if something else exists there, or if nothing can be created there.
func holdPlaceholder(path string) (bool, error) {
	placeholders.Lock()
	defer placeholders.Unlock()
	if p := placeholders.held[path]; p != nil {
		if now, err := inodeAt(unix.AT_FDCWD, path); err == nil && now == p.id {
			p.users++
			return true, nil
		}
		if p.users > 0 { // something else was created there outside of the sandbox
			return false, nil
		}
		p.letGo(path)
	}
	p, err := takePlaceholder(path)
	if p == nil {
		return false, err
	}
	p.users = 1
	placeholders.held[path] = p
	return true, nil
}

// isHeld reports whether this process holds a placeholder at the path.
func isHeld(path string) bool {
	placeholders.Lock()
	defer placeholders.Unlock()
	return placeholders.held[path] != nil
}

// releasePlaceholder releases the placeholder of a sandbox that has ended.
func releasePlaceholder(path string) {
	placeholders.Lock()
	defer placeholders.Unlock()
	p := placeholders.held[path]
	if p == nil {
		return
	}
	if p.users--; p.users == 0 {
		p.since = time.Now()
		time.AfterFunc(placeholderLinger, func() { sweep(placeholderLinger) })
	}
}

// sweep removes the placeholders that were unused for that time.
func sweep(idle time.Duration) {
	placeholders.Lock()
	defer placeholders.Unlock()
	for path, p := range placeholders.held {
		if p.users == 0 && time.Since(p.since) >= idle {
			p.letGo(path)
		}
	}
}

// takePlaceholder creates a placeholder, or shares that of another process. It returns
// nil if neither is possible.
func takePlaceholder(path string) (*placeholder, error) {
	dir, err := openReal(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, fmt.Errorf("protect %s: %w", path, err)
	}
	defer closeFile(dir)
	name := filepath.Base(path)
	for range placeholderTries {
		made := unix.Mkdirat(dir, name, unix.S_ISVTX|0o500)
		switch {
		case errors.Is(made, fs.ErrPermission) || errors.Is(made, unix.EROFS):
			return nil, nil // the command cannot do it either
		case made != nil && !errors.Is(made, fs.ErrExist):
			return nil, fmt.Errorf("protect %s: %w", path, made)
		}
		if made != nil {
			info, err := os.Lstat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // another sandbox has just removed it
			}
			if err != nil || !PlaceholderMode(info.Mode()) || len(names(path)) > 0 {
				return nil, err
			}
		}
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it was just replaced
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) == nil {
			// Removing it needs an exclusive lock: it exists until we release ours.
			id := inode{st.Dev, st.Ino}
			if now, err := inodeAt(dir, name); err == nil && now == id {
				return &placeholder{lock: fd, id: id}, nil
			}
		}
		closeFile(fd)
	}
	return nil, fmt.Errorf("protect %s: another process keeps creating or deleting it", path)
}

// inodeAt returns the inode at a path.
func inodeAt(dir int, name string) (inode, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return inode{st.Dev, st.Ino}, err
}

// letGo removes the placeholder, unless another process uses it or it was replaced.
func (p *placeholder) letGo(path string) {
	delete(placeholders.held, path)
	defer closeFile(p.lock)
	if unix.Flock(p.lock, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	dir, err := openReal(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer closeFile(dir)
	if now, err := inodeAt(dir, filepath.Base(path)); err == nil && now == p.id {
		_ = unix.Unlinkat(dir, filepath.Base(path), unix.AT_REMOVEDIR) // it fails if the directory is not empty, as it should
	}
}
