package gate

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	tempPrefix   = "pawl-gate-"
	maxTempTries = 10
)

// TempDir creates a directory for a gate in parent, which stays locked until lock is closed or the process ends. It removes
// those of gates that were killed.
func TempDir(parent string) (dir string, lock *os.File, err error) {
	sweepTempDirs(parent)
	for range maxTempTries {
		path, err := os.MkdirTemp(parent, tempPrefix)
		if err != nil {
			return "", nil, err
		}
		if lock := lockTempDir(path); lock != nil {
			return path, lock, nil
		}
	}
	return "", nil, fault.New(pawl.ErrUnavailable, "directories in %s are removed as soon as they are created: another program may be cleaning up there", parent)
}

// sweepTempDirs removes directories of this user that no process has locked. What cannot be removed stays.
func sweepTempDirs(parent string) {
	entries, _ := os.ReadDir(parent) // creating a directory there reports an error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) || strings.Trim(e.Name()[len(tempPrefix):], "0123456789") != "" {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if lock := lockTempDir(path); lock != nil {
			_ = removeAll(path)
			_ = lock.Close() // it was only opened to lock it
		}
	}
}

// lockTempDir locks a directory. It returns nil if another process has locked it, if it does not exist or
// belongs to somebody else.
func lockTempDir(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	var opened, there unix.Stat_t
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil ||
		unix.Fstat(int(f.Fd()), &opened) != nil || unix.Lstat(path, &there) != nil ||
		opened.Ino != there.Ino || opened.Dev != there.Dev || int(opened.Uid) != os.Geteuid() {
		_ = f.Close()
		return nil
	}
	return f
}
