package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// File systems update their clocks more often than this, so any change after
	// this time gives the directory a new ctime.
	settleTime  = 100 * time.Millisecond
	settleTries = 10 // how often settled checks before it gives up
)

// ErrMoved is returned by Steady if path may have led to another file for a time.
var ErrMoved = errors.New("its directory was changed in the meantime")

// waypoint is the state of a directory on the path to a file. It uses the ctime
// because the kernel sets it: a process that can write to the directory cannot
// reset it.
type waypoint struct {
	dev, ino uint64
	changed  time.Time
}

// Steady calls do, which makes another program read the file at path. It returns
// ErrMoved if path may have led to anything but that regular file while do ran: a
// concurrent command could put a symbolic link into the path for a moment to make
// the other program read a file that the command itself cannot read. If path
// contains a symbolic link at the start, Steady does not call do.
func Steady(ctx context.Context, dir, path string, do func() error) error {
	before, err := settled(ctx, dir, path)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := way(dir, path)
	if err != nil || !slices.Equal(before, after) {
		return ErrMoved
	}
	return nil
}

// settled returns the waypoints of path once none of them has changed for
// settleTime. It returns ErrMoved if that does not happen within settleTries
// checks.
func settled(ctx context.Context, dir, path string) ([]waypoint, error) {
	for range settleTries {
		points, err := way(dir, path)
		if err != nil {
			return nil, err
		}
		latest := slices.MaxFunc(points, func(a, b waypoint) int { return a.changed.Compare(b.changed) }).changed
		left := settleTime - time.Since(latest)
		if left <= 0 {
			return points, nil
		}
		select {
		case <-time.After(min(left, settleTime)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, ErrMoved
}

// way returns the directories from dir down to the parent of path, which is
// relative to dir. Any change to their entries changes a waypoint. It returns an
// error if path contains a symbolic link or is not a regular file.
func way(dir, path string) ([]waypoint, error) {
	names := []string{"."}
	for name := filepath.Dir(filepath.Clean(path)); name != "."; name = filepath.Dir(name) {
		names = slices.Insert(names, 1, name)
	}
	var points []waypoint
	for _, name := range names {
		var st unix.Stat_t
		stat := unix.Lstat
		if name == "." {
			stat = unix.Stat // the workspace itself may be named through a link
		}
		if err := stat(filepath.Join(dir, name), &st); err != nil {
			return nil, fmt.Errorf("stat %s: %w", name, err)
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return nil, fmt.Errorf("%s: %w", name, ErrMoved)
		}
		points = append(points, waypoint{uint64(st.Dev), st.Ino, time.Unix(st.Ctim.Unix())}) //nolint:unconvert // the type differs between platforms
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(dir, path), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, ErrMoved
	}
	return points, nil
}
