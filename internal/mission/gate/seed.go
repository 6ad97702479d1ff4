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

// LinkCache gives another directory the files of the base's cache as hard links, so that a worker need not start with
// an empty cache. Nobody may write to these files.
func (g *Gate) LinkCache(ctx context.Context, dir string) error {
	if g.Seed == "" {
		return nil
	}
	return g.withSeed(ctx, unix.LOCK_SH, func() error { return place(dir, filepath.Join(g.Seed, "cache"), linkFile) })
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

// useSeed calls do with the cache that is kept between gates, which nobody changes meanwhile, or with "".
func (g *Gate) useSeed(ctx context.Context, do func(seed string) error) error {
	if g.Seed == "" {
		return do("")
	}
	seed := filepath.Join(g.Seed, "cache")
	if err := os.MkdirAll(seed, 0o700); err != nil {
		return err
	}
	seed, err := filepath.EvalSymlinks(seed) // a view shows no directory behind a link
	if err != nil {
		return err
	}
	lock, err := lockSeed(ctx, g.Seed, unix.LOCK_SH)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // releases the lock
	return do(seed)
}

// addToSeed adds what the checks of the base wrote to the cache that is kept between gates, unless another gate uses it.
func (g *Gate) addToSeed(ctx context.Context, kept string) error {
	if g.Seed == "" {
		return nil
	}
	now, cancel := context.WithTimeout(ctx, 10*seedPoll)
	defer cancel()
	lock, err := lockSeed(now, g.Seed, unix.LOCK_EX)
	if err != nil {
		return context.Cause(ctx) // the next gate adds it
	}
	defer func() { _ = lock.Close() }() // releases the lock
	seed := filepath.Join(g.Seed, "cache")
	size, err := dirSize(seed)
	if err == nil && size > maxSeed {
		err = removeAll(seed)
	}
	return errors.Join(err, copyInto(seed, kept))
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
