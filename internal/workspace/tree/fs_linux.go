package tree

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// directory is an open directory. Paths are resolved beneath it, without links and mount points.
type directory int

func openDirectory(name string) (directory, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return directory(fd), nil
}

func (d directory) close() {
	if d >= 0 {
		_ = unix.Close(int(d))
	}
}

// open opens an entry that may be several levels below d. "" is d itself.
func (d directory) open(name string, flags int) (int, error) {
	if name == "" {
		name = "."
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(int(d), name, &how)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue // somebody renamed a directory meanwhile
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return fd, nil
	}
}

// directory opens a directory below d, to look up names in it.
func (d directory) directory(name string) (directory, error) {
	fd, err := d.open(name, unix.O_PATH|unix.O_DIRECTORY)
	return directory(fd), err
}

// parent opens the directory of an entry and returns it with the entry's name.
func (d directory) parent(name string) (directory, string, error) {
	dir, base := split(name)
	parent, err := d.directory(dir)
	return parent, base, err
}

// isMissing reports whether a directory on a path was deleted or replaced, e.g. by a link.
func isMissing(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EXDEV)
}

func split(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

func join(dir, base string) string {
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// names returns the sorted names in a directory.
func (d directory) names(name string) ([]string, error) {
	fd, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// lstat returns the entry with a name in d. An entry that does not exist is no error: its Mode is 0.
func (d directory) lstat(base string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(d), base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return unix.Stat_t{}, nil
	}
	if err != nil {
		return st, &os.PathError{Op: "stat", Path: base, Err: err}
	}
	return st, nil
}

func (d directory) stat(base string) (Stat, error) {
	st, err := d.lstat(base)
	return toStat(&st), err
}

func toStat(st *unix.Stat_t) Stat {
	s := Stat{
		Mode: st.Mode & 0o7777, Size: st.Size, Inode: st.Ino,
		ModTime: st.Mtim.Nano(), ChangeTime: st.Ctim.Nano(),
	}
	switch st.Mode & unix.S_IFMT {
	case 0:
		return Stat{}
	case unix.S_IFREG:
		s.Type = File
	case unix.S_IFDIR:
		s.Type = Dir
	case unix.S_IFLNK:
		s.Type = Link
	default:
		s.Type = Other
	}
	return s
}

// place returns a path for calls that take no directory descriptor. They must not follow its last element.
func (d directory) place(base string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", int(d), base)
}

// chmod changes the mode of an entry if it still is the inode.
func (d directory) chmod(base string, inode uint64, mode uint32) error {
	return d.withEntry(base, inode, func(proc string) error { return unix.Chmod(proc, mode) })
}

// setTime changes the modification time of an entry if it still is the inode.
func (d directory) setTime(base string, inode uint64, modTime int64) error {
	return d.withEntry(base, inode, func(proc string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, proc, times(modTime), 0)
	})
}

func times(modTime int64) []unix.Timespec {
	return []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(modTime)}
}

func (d directory) withEntry(base string, inode uint64, do func(proc string) error) error {
	fd, err := unix.Openat(int(d), base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: base, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: base, Err: err}
	}
	if st.Ino != inode || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return &os.PathError{Op: "chmod", Path: base, Err: errReplaced}
	}
	if err := do(fmt.Sprintf("/proc/self/fd/%d", fd)); err != nil {
		return &os.PathError{Op: "chmod", Path: base, Err: err}
	}
	return nil
}

var errReplaced = errors.New("another program replaced the entry")

func (d directory) readlink(base string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(d), base, buf)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: base, Err: err}
	}
	return string(buf[:n]), nil
}

// attributes returns the names of an entry's extended attributes.
func (d directory) attributes(base string) ([]string, error) {
	buf := make([]byte, 1024)
	for {
		n, err := unix.Llistxattr(d.place(base), buf)
		switch {
		case errors.Is(err, unix.ERANGE) && len(buf) <= 64<<10:
			buf = make([]byte, 128<<10)
		case errors.Is(err, unix.ENOTSUP):
			return nil, nil
		case err != nil:
			return nil, &os.PathError{Op: "listxattr", Path: base, Err: err}
		case n == 0:
			return nil, nil
		default:
			return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00"), nil
		}
	}
}

func (d directory) attribute(base, name string) ([]byte, error) {
	buf := make([]byte, 64<<10)
	n, err := unix.Lgetxattr(d.place(base), name, buf)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, &os.PathError{Op: "getxattr", Path: base, Err: err}
	}
	return buf[:n], nil
}

// rename moves an entry and never replaces one. With exchange it swaps the two.
func rename(from directory, fromBase string, to directory, toBase string, flag uint) error {
	err := unix.Renameat2(int(from), fromBase, int(to), toBase, flag)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: fromBase, New: toBase, Err: err}
	}
	return nil
}

// ChangedSince reports whether a file changed at a time of Now, or later.
func ChangedSince(info os.FileInfo, since int64) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Ctim.Nano() >= since
}

// clockWait bounds the wait for a file system's clock, most of which advance every 1 to 10 ms.
const clockWait = 50 * time.Millisecond

// Now returns a time of the clock that a file system stamps changes with: later than all changes before the call, and
// not later than those after it. It needs write access to dir, and no program sees a file in it.
func Now(dir string) (int64, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return 0, &os.PathError{Op: "create a temporary file in", Path: dir, Err: err}
	}
	return clock(fd, dir)
}

// nowIn is Now for a directory that only Pawl uses, on any file system.
func nowIn(dir string) (int64, error) {
	f, err := os.CreateTemp(dir, "clock")
	if err != nil {
		return 0, err
	}
	fd, err := unix.Dup(int(f.Fd()))
	if err := errors.Join(err, os.Remove(f.Name()), f.Close()); err != nil {
		return 0, err
	}
	return clock(fd, dir)
}

// clock implements Now with an open file, which it closes.
func clock(fd int, dir string) (int64, error) {
	defer func() { _ = unix.Close(fd) }()
	var first, st unix.Stat_t
	if err := unix.Fstat(fd, &first); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path.Join(dir, "temporary file"), Err: err}
	}
	// Linux 6.13 stamps the next change of a file that was looked at with a fine clock; otherwise it has to advance.
	for began := time.Now(); ; time.Sleep(time.Millisecond / 2) {
		err := unix.Fchmod(fd, 0o600)
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		if err != nil {
			return 0, &os.PathError{Op: "change", Path: path.Join(dir, "temporary file"), Err: err}
		}
		if st.Ctim.Nano() > first.Ctim.Nano() || time.Since(began) > clockWait {
			return st.Ctim.Nano(), nil
		}
	}
}
