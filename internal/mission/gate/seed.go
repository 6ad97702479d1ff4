package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxSeed  = 8 << 30               // maximum size of a kept cache, in bytes
	seedPoll = 20 * time.Millisecond // interval between attempts to lock it
)

// fromSeed fills a cache from the seed. Checks never use the seed itself: two at once would see each other's
// partial writes.
func (g *Gate) fromSeed(ctx context.Context, cache string) error {
	if g.Seed == "" {
		return nil
	}
	return g.withSeed(ctx, unix.LOCK_SH, func() error {
		return copyInto(cache, filepath.Join(g.Seed, "cache"))
	})
}

// LinkCache gives another directory the files of the base's cache as hard links, so that a worker need not start with
// an empty cache. Nobody may write to these files.
func (g *Gate) LinkCache(ctx context.Context, dir string) error {
	if g.Seed == "" {
		return nil
	}
	return g.withSeed(ctx, unix.LOCK_SH, func() error {
		return place(dir, filepath.Join(g.Seed, "cache"), linkFile)
	})
}

// toSeed replaces the seed by the cache of a base. It replaces it as a whole, so files that tools have expired
// disappear there too. A cache larger than maxSeed is not kept.
func (g *Gate) toSeed(ctx context.Context, cache string) error {
	if g.Seed == "" {
		return nil
	}
	size, err := dirSize(cache)
	if err != nil {
		return err
	}
	return g.withSeed(ctx, unix.LOCK_EX, func() error {
		kept, fresh, old := filepath.Join(g.Seed, "cache"), filepath.Join(g.Seed, "new"), filepath.Join(g.Seed, "old")
		if err := errors.Join(removeAll(fresh), removeAll(old)); err != nil {
			return err
		}
		if size <= maxSeed {
			if err := copyInto(fresh, cache); err != nil {
				return errors.Join(err, removeAll(fresh))
			}
		}
		for _, move := range [][2]string{{kept, old}, {fresh, kept}} {
			if err := os.Rename(move[0], move[1]); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return removeAll(old)
	})
}

// withSeed runs do while the seed is locked, which is only as long as copying takes.
func (g *Gate) withSeed(ctx context.Context, how int, do func() error) error {
	lock, err := lockSeed(ctx, g.Seed, how)
	if err != nil {
		return fmt.Errorf("lock the check cache: %w", err)
	}
	defer func() { _ = lock.Close() }() // releases the lock
	if err := do(); err != nil {
		return fmt.Errorf("copy the check cache (%s can be deleted): %w", g.Seed, err)
	}
	return nil
}

func lockSeed(ctx context.Context, dir string, how int) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(seedPoll)
	defer tick.Stop()
	for {
		err := unix.Flock(int(lock.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(err, lock.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), lock.Close())
		case <-tick.C:
		}
	}
}

// dirSize returns the size of all files in a directory, in bytes.
func dirSize(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
