package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// folderID tells whether a directory's entries have changed. The time of change is
// the kernel's own: nobody can set it back.
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

// identity tells whether a file has changed in any way.
type identity struct {
	folderID
	missing bool
}

func identityOf(path string) identity {
	id, _, err := identify(path)
	return identity{id, err != nil}
}

// openReal opens a path that has no link in it. One that has come up since it
// was looked at is an error: it would lead somewhere else. What a workspace
// holds can be swapped at any time by a command that runs in another sandbox.
func openReal(path string, flags uint64) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	return fd, nil
}
