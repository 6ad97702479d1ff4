package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// folderID identifies a version of a directory's entries. It contains the ctime, which
// nobody can set back.
type folderID struct {
	device, inode uint64
	change        unix.Timespec
}

func identify(dir string) (folderID, time.Time, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return folderID{}, time.Time{}, err
	}
	return folderID{st.Dev, st.Ino, st.Ctim}, time.Unix(st.Ctim.Unix()), nil
}

// identity identifies a version of a file.
type identity struct {
	folderID
	missing bool
}

func identityOf(path string) identity {
	id, _, err := identify(path)
	return identity{id, err != nil}
}

// openReal opens a path without links. A link that was created since the path was
// resolved is an error: a command in another sandbox can replace files of a workspace
// at any time.
func openReal(path string, flags uint64) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	return fd, nil
}
