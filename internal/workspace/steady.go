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
	settleTime  = 100 * time.Millisecond // after it, a further change to a directory has another time: the clocks of file systems tick more often
	settleTries = 10                     // that a directory is waited for
)

// ErrMoved is returned when a path did not lead to the same file all the while.
var ErrMoved = errors.New("what is in its folder was changed meanwhile")

// waypoint is a directory on the way to a file, as it was at a time. Its ctime is the
// kernel's word: who may write to the directory cannot set it back.
type waypoint struct {
	dev, ino uint64
	changed  time.Time
}

// Steady calls do, which has another program read the file at path, and returns
// ErrMoved unless path led to that file all the while, without a link: a command
// that runs meanwhile could put one there for a moment, to have the other read
// what it cannot read itself. do is called only if it does so at the beginning.
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

// settled is the way to a file once it has not changed for a moment.
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

// way returns the directories from dir to the file at path, a local one: any change
// to what is in them shows in it. A link on the way is an error.
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
			stat = unix.Stat // how the workspace itself is named is its user's business
		}
		if err := stat(filepath.Join(dir, name), &st); err != nil {
			return nil, fmt.Errorf("look at %s: %w", name, err)
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return nil, fmt.Errorf("%s: %w", name, ErrMoved)
		}
		points = append(points, waypoint{uint64(st.Dev), st.Ino, time.Unix(st.Ctim.Unix())}) //nolint:unconvert // it has another type elsewhere
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(dir, path), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, ErrMoved
	}
	return points, nil
}
