package runner

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pawl-dev/pawl"
)

// Offer has a directory that was just made here be worked in on any host. It was offered
// already if a host has taken it: it began as the same then.
func (s *Workspaces) Offer(ctx context.Context, dir string) error {
	if s.Keeper == nil {
		return nil
	}
	id, size, err := s.Keeper.Save(ctx, Key(pawl.TenantOf(ctx), dir), dir, "")
	if errors.Is(err, pawl.ErrInvalid) {
		return err // it is too large: another try ends the same
	}
	if err == nil {
		err = s.Roster.Offer(ctx, dir, id, size)
	}
	if err != nil && !errors.Is(err, pawl.ErrConflict) {
		return fmt.Errorf("offer %s: %w: %w", dir, err, pawl.ErrUnavailable)
	}
	return nil
}

// Recall makes a directory here hold what was kept of it last, wherever it was worked
// in. Nobody may work in it any more. One that nobody knows of is left as it is.
func (s *Workspaces) Recall(ctx context.Context, dir string) error {
	if s.Keeper == nil {
		return nil
	}
	row, err := s.Roster.Workspace(ctx, dir)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = s.recall(ctx, row)
	}
	if err != nil {
		return fmt.Errorf("recall %s: %w: %w", dir, err, pawl.ErrUnavailable)
	}
	return nil
}

func (s *Workspaces) recall(ctx context.Context, row pawl.Workspace) error {
	w := s.take(row.Dir)
	defer s.leave(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		w.mark, w.known = s.readMark(row.Tenant, row.Dir), true
	}
	if row.Host == s.Host && row.Epoch == w.mark.Epoch && (s.sound(w.mark) || row.Checkpoint == "") {
		if _, err := os.Stat(row.Dir); err == nil {
			return nil
		}
	}
	if err := os.MkdirAll(row.Dir, 0o700); err != nil {
		return err
	}
	return s.Keeper.Restore(ctx, Key(row.Tenant, row.Dir), row.Dir, row.Checkpoint)
}

// Drop forgets a directory for good, and all that was kept of it. The host that has it
// finds out when it tidies up.
func (s *Workspaces) Drop(ctx context.Context, dir string) error {
	_, err := s.Roster.Workspace(ctx, dir)
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err == nil && s.Keeper != nil {
		err = s.Keeper.Drop(ctx, Key(pawl.TenantOf(ctx), dir))
	}
	if err == nil {
		err = s.Roster.Drop(ctx, dir)
	}
	if err != nil {
		return fmt.Errorf("drop %s: %w: %w", dir, err, pawl.ErrUnavailable)
	}
	return nil
}
