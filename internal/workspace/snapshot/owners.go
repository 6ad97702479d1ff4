package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Adopt makes the session to keep all snapshots of dir that the session from keeps.
// It is used when to is a fork of from.
func (s *Store) Adopt(ctx context.Context, dir string, from, to pawl.SessionID) error {
	if !from.Valid() || !to.Valid() {
		return fault.New(pawl.ErrInvalid, "adopt checkpoints: invalid session id %.50q or %.50q", string(from), string(to))
	}
	f, err := s.lock(ctx, dir, exists)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("adopt snapshots: %w", err)
	}
	defer f.unlock()
	ids, err := f.snapshots(from)
	for _, id := range ids {
		if err == nil {
			err = f.hold(to, id)
		}
	}
	if err != nil {
		return fmt.Errorf("adopt snapshots of %s: %w", f.dir, err)
	}
	return nil
}

// snapshots returns the snapshots that a session keeps.
func (f *folder) snapshots(owner pawl.SessionID) (ids []ID, err error) {
	entries, err := os.ReadDir(f.ref(refsOwners + "/" + string(owner)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if id := ID(e.Name()); id.valid() == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// drop removes the refs of a session.
func (f *folder) drop(owner pawl.SessionID) error {
	return os.RemoveAll(f.ref(refsOwners + "/" + string(owner)))
}

// Forget releases all snapshots of a session in every directory. GC frees the disk
// space.
func (s *Store) Forget(ctx context.Context, owner pawl.SessionID) error {
	if !owner.Valid() {
		return fault.New(pawl.ErrInvalid, "delete checkpoints: invalid session id %.50q", string(owner))
	}
	err := s.each(ctx, func(f *folder) error { return f.drop(owner) })
	if err != nil {
		return fmt.Errorf("delete checkpoints of %s: %w", owner, err)
	}
	return nil
}

// Owners returns the sessions that keep snapshots, sorted by id.
func (s *Store) Owners(ctx context.Context) ([]pawl.SessionID, error) {
	var all []pawl.SessionID
	err := s.each(ctx, func(f *folder) error {
		owners, err := f.owners()
		all = append(all, owners...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions with checkpoints: %w", err)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// each locks the store of each directory in turn and calls do with it.
func (s *Store) each(ctx context.Context, do func(*folder) error) error {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil && e.IsDir() {
			err = s.one(ctx, filepath.Join(s.Dir, e.Name()), do)
		}
	}
	return err
}

func (s *Store) one(ctx context.Context, at string, do func(*folder) error) error {
	f, err := s.lockAt(ctx, at, exists)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.unlock()
	text, err := os.ReadFile(f.path(pathName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.dir = string(text)
	return do(f)
}
