package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Everything below a root is accessed relative to an open directory, name by name, and never through a link:
// programs in the workspace can create links anywhere, at any time.

// number converts fields whose type differs between systems.
func number[T ~int16 | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64](v T) uint64 { return uint64(v) }

// stamp identifies the state of a file without reading it.
type stamp struct {
	Dev, Ino           uint64
	Size, MTime, CTime int64
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{number(st.Dev), st.Ino, st.Size, unix.TimespecToNsec(st.Mtim), unix.TimespecToNsec(st.Ctim)}
}

// fileType returns the file type bits (unix.S_IFMT).
func fileType(st *unix.Stat_t) uint64 { return number(st.Mode) & unix.S_IFMT }

func permissions(st *unix.Stat_t) uint32 { return uint32(number(st.Mode) & 0o777) }

// modeOf returns the mode of a directory.
func modeOf(st *unix.Stat_t) fs.FileMode {
	mode := fs.ModeDir | fs.FileMode(permissions(st))
	if number(st.Mode)&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// retryEINTR retries a system call that was interrupted by a signal.
func retryEINTR(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// openAt opens a name in an open directory without following links.
func openAt(dir *os.File, name string, flags int, mode uint32) (*os.File, error) {
	return openFrom(int(dir.Fd()), name, dir.Name()+"/"+name, flags, mode)
}

// openRoot opens the directory of a root, which must not be a link itself.
func openRoot(path string) (*os.File, error) {
	return openFrom(unix.AT_FDCWD, path, path, unix.O_DIRECTORY, 0)
}

func openFrom(at int, name, path string, flags int, mode uint32) (*os.File, error) {
	flags |= unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOFOLLOW
	var fd int
	err := retryEINTR(func() (err error) {
		fd, err = unix.Openat(at, name, flags, mode)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openDir opens a directory in an open one, making it accessible if needed.
func openDir(dir *os.File, name string) (*os.File, error) {
	f, err := openAt(dir, name, unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.EACCES) && unix.Fchmodat(int(dir.Fd()), name, 0o700, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return openAt(dir, name, unix.O_DIRECTORY, 0)
	}
	return f, err
}

// statAt returns the status of a name in an open directory, without following links.
func statAt(dir *os.File, name string) (st unix.Stat_t, err error) {
	err = retryEINTR(func() error { return unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		err = &os.PathError{Op: "stat", Path: dir.Name() + "/" + name, Err: err}
	}
	return st, err
}

func stat(f *os.File) (st unix.Stat_t, err error) {
	if err = retryEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		err = &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return st, err
}

// linkAt returns the target of a link.
func linkAt(dir *os.File, name string) (string, error) {
	for size := 256; ; size *= 4 {
		buffer := make([]byte, size)
		n, err := unix.Readlinkat(int(dir.Fd()), name, buffer)
		if err != nil {
			return "", &os.PathError{Op: "readlink", Path: dir.Name() + "/" + name, Err: err}
		}
		if n < size {
			return string(buffer[:n]), nil
		}
	}
}

// namesIn returns the names in an open directory, sorted.
func namesIn(dir *os.File) ([]string, error) {
	names, err := dir.Readdirnames(-1)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil // it was just removed
	}
	slices.Sort(names)
	return names, err
}

// removeAt removes a name and everything below it, within the device.
func removeAt(dir *os.File, name string, dev uint64) error {
	st, err := statAt(dir, name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	case fileType(&st) != unix.S_IFDIR:
		return unlinkAt(dir, name, 0)
	case number(st.Dev) != dev:
		return fault.New(pawl.ErrInvalid, "%s/%s is a mount point: unmount it first", dir.Name(), name)
	}
	inner, err := openDir(dir, name)
	if err != nil {
		return err
	}
	if err := errors.Join(emptyDir(inner, dev), inner.Close()); err != nil {
		return err
	}
	return unlinkAt(dir, name, unix.AT_REMOVEDIR)
}

// emptyDir removes the content of an open directory.
func emptyDir(dir *os.File, dev uint64) error {
	if err := dir.Chmod(0o700); err != nil {
		return err
	}
	names, err := namesIn(dir)
	for _, name := range names {
		if err == nil {
			err = removeAt(dir, name, dev)
		}
	}
	return err
}

func unlinkAt(dir *os.File, name string, flags int) error {
	err := retryEINTR(func() error { return unix.Unlinkat(int(dir.Fd()), name, flags) })
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: dir.Name() + "/" + name, Err: err}
	}
	return nil
}

// setTime sets the modification time of a file, in nanoseconds.
func setTime(dir *os.File, name string, at int64) error {
	ts := unix.NsecToTimespec(at)
	return unix.UtimesNanoAt(int(dir.Fd()), name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
