package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxEmpty bounds the empty directories that are removed to restore one file.
const maxEmpty = 1000

// put restores a file atomically, with a temporary file. The temporary name depends
// only on the path, so that the next attempt removes what a crash leaves behind.
func (a *applying) put(r *Restore) error {
	if err := a.root.makeFolders(path.Dir(r.Path)); err != nil {
		return err
	}
	return a.root.in(r.Path, func(fd int, name string) error {
		temp := tempName(r.Path)
		a.reach("fill " + r.Path)
		if err := unlink(fd, temp, 0); err != nil && !absent(err) {
			return err
		}
		if err := a.fill(fd, temp, r); err != nil {
			return errors.Join(err, ignoreAbsent(unlink(fd, temp, 0)))
		}
		a.reach("put " + r.Path)
		err := a.verify(fd, name, r)
		if err == nil && r.now.folder {
			err = ignoreAbsent(clearFolder(fd, name, new(int)))
		}
		if err == nil {
			err = unix.Renameat(fd, temp, fd, name)
		}
		if err != nil {
			return errors.Join(err, ignoreAbsent(unlink(fd, temp, 0)))
		}
		return nil
	})
}

func tempName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return tempPrefix + "undo-" + hex.EncodeToString(sum[:8])
}

func ignoreAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// fill creates the new file or symbolic link.
func (a *applying) fill(fd int, name string, r *Restore) error {
	content, err := a.contents.open(r.want.id)
	if err != nil {
		return err
	}
	if r.want.mode == modeLink {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return unix.Symlinkat(string(target), fd, name)
	}
	perm, fixed := permOf(r)
	opened, err := unix.Openat(fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(opened), name)
	_, err = io.Copy(file, content)
	if fixed {
		err = errors.Join(err, file.Chmod(os.FileMode(perm)))
	}
	return errors.Join(err, file.Close())
}

// permOf returns the permissions of a restored file. If it replaces a file they are
// those of that file, apart from the executable bits, and fixed is true. Otherwise
// they are the defaults, which the umask restricts.
func permOf(r *Restore) (perm uint32, fixed bool) {
	run := r.want.mode == modeExec
	switch {
	case r.now.mode == modeFile || r.now.mode == modeExec || r.now.mode == modeOut:
		perm = r.now.perm & 0o666
		if run {
			perm |= perm&0o444>>2 | 0o100
		}
		return perm, true
	case run:
		return 0o755, false
	}
	return 0o644, false
}

// unlink removes an entry of an open directory.
func unlink(fd int, name string, flags int) error {
	for {
		if err := unix.Unlinkat(fd, name, flags); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// makeFolders creates a directory and its missing parents. It fails if one of them
// is a symbolic link.
func (r *root) makeFolders(dir string) error {
	if dir == "." {
		return nil
	}
	for i, c := range dir + "/" {
		if c != '/' {
			continue
		}
		err := r.in(dir[:i], func(fd int, name string) error {
			if err := unix.Mkdirat(fd, name, 0o755); !errors.Is(err, unix.EEXIST) {
				return err
			}
			opened, err := enter(fd, name)
			if err != nil {
				return fmt.Errorf("%q is not a directory", strings.Clone(dir[:i]))
			}
			return unix.Close(opened)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFolder removes a directory if it is empty.
func (r *root) removeFolder(dir string) error {
	return r.in(dir, func(fd int, name string) error { return unlink(fd, name, unix.AT_REMOVEDIR) })
}

// clearFolder removes a directory that contains only directories. It fails if it
// contains a file, or more than maxEmpty directories.
func clearFolder(fd int, name string, count *int) error {
	if *count++; *count > maxEmpty {
		return fmt.Errorf("more than %d empty directories are in the way", maxEmpty)
	}
	opened, err := enter(fd, name)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(opened), name)
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, below := range names {
		if err := clearFolder(opened, below, count); err != nil {
			return err
		}
	}
	return unlink(fd, name, unix.AT_REMOVEDIR)
}
