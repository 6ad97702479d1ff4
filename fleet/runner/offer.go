package runner

import (
	"context"
	"errors"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Offer saves a checkpoint of a directory that was just created here, so that any host can work in it. It is no error
// if it was offered before: a host may have changed it since.
func (s *Workspaces) Offer(ctx context.Context, dir string) error {
	if s.Checkpoints == nil {
		return nil
	}
	id, size, err := s.Checkpoints.Save(ctx, Key(store.TenantOf(ctx), dir), dir, "")
	if errors.Is(err, pawl.ErrInvalid) {
		return err // too large: a retry would fail too
	}
	if err == nil {
		err = s.Registry.Offer(ctx, dir, id, size)
	}
	if err != nil && !errors.Is(err, pawl.ErrConflict) {
		return fault.New(pawl.ErrUnavailable, "offer %s: %w", dir, err)
	}
	return nil
}

// Recall restores a directory on this host to its last checkpoint, wherever it was worked in. Nobody may work in it any
// more. A directory that the registry does not know is left as it is.
func (s *Workspaces) Recall(ctx context.Context, dir string) error {
	if s.Checkpoints == nil {
		return nil
	}
	row, err := s.Registry.Workspace(ctx, dir)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = s.recall(ctx, row)
	}
	if err != nil {
		return fault.New(pawl.ErrUnavailable, "recall %s: %w", dir, err)
	}
	return nil
}

func (s *Workspaces) recall(ctx context.Context, row fleet.Workspace) error {
	w := s.acquire(row.Dir)
	defer s.release(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		w.state, w.known = s.readState(row.Tenant, row.Dir), true
	}
	if row.Host == s.Host && row.Epoch == w.state.Epoch && (s.intact(w.state) || row.Checkpoint == "") {
		if _, err := os.Stat(row.Dir); err == nil {
			return nil
		}
	}
	if err := os.MkdirAll(row.Dir, 0o700); err != nil {
		return err
	}
	return s.Checkpoints.Restore(ctx, Key(row.Tenant, row.Dir), row.Dir, row.Checkpoint)
}

// Drop deletes a workspace from the registry, with all its checkpoints. The host that holds it deletes the files in
// EvictIdle.
func (s *Workspaces) Drop(ctx context.Context, dir string) error {
	_, err := s.Registry.Workspace(ctx, dir)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err == nil && s.Checkpoints != nil {
		err = s.Checkpoints.Drop(ctx, Key(store.TenantOf(ctx), dir))
	}
	if err == nil {
		err = s.Registry.Drop(ctx, dir)
	}
	if err != nil {
		return fault.New(pawl.ErrUnavailable, "drop %s: %w", dir, err)
	}
	return nil
}
