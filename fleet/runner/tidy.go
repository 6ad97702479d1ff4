package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/pawl-dev/pawl"
)

// The bounds of what a host keeps of workspaces that nobody works in.
const (
	tidyEvery = time.Minute
	keepFor   = 24 * time.Hour  // on the disk, so that the next turn begins at once
	keepFull  = 5 * time.Minute // when the host is full
)

// Tidy removes workspaces from the disk that nobody has worked in for a while, until
// ctx ends. They are kept where they can be restored from.
func (s *Workspaces) Tidy(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		after := keepFor
		if full, err := s.Full(); full || err != nil {
			after = keepFull
		}
		if n, err := s.tidy(ctx, after); err != nil && ctx.Err() == nil {
			log.Warn("workspaces that nobody works in could not be removed", "error", err)
		} else if n > 0 {
			log.Info("workspaces were removed from the disk", "workspaces", n)
		}
	}
}

// tidy removes what nobody has worked in for so long.
func (s *Workspaces) tidy(ctx context.Context, after time.Duration) (n int, err error) {
	if s.Keeper == nil {
		return 0, nil // it is here or nowhere
	}
	idle, err := s.gone(ctx)
	if err != nil {
		return 0, err
	}
	maps.Copy(idle, s.idle(after))
	for dir, w := range idle {
		if fault := s.evict(ctx, dir, w); fault != nil { // the others go all the same
			err = errors.Join(err, fmt.Errorf("remove workspace %s: %w", dir, fault))
			continue
		}
		n++
	}
	return n, err
}

// gone are the workspaces that nobody works in here and that are not this host's any
// more: others have them, or they were dropped.
func (s *Workspaces) gone(ctx context.Context) (map[string]*space, error) {
	idle := s.idle(tidyEvery) // before the host registry is asked
	rows, err := s.Roster.Workspaces(ctx, s.Host)
	for _, row := range rows {
		delete(idle, row.Dir)
	}
	return idle, err
}

func (s *Workspaces) idle(after time.Duration) map[string]*space {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := map[string]*space{}
	for dir, w := range s.spaces {
		if w.busy == 0 && time.Since(w.used) >= after {
			idle[dir] = w
		}
	}
	return idle
}

// entered reports whether somebody works in a workspace now.
func (s *Workspaces) entered(w *space) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.busy > 0
}

// evict keeps a workspace elsewhere, and removes it here. What is held is its lock,
// so that nobody enters meanwhile; whoever comes then restores it, and whoever has
// come already keeps it.
func (s *Workspaces) evict(ctx context.Context, dir string, w *space) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.entered(w) {
		return nil
	}
	if w.mark.Epoch == 0 {
		s.forget(dir, w) // it was only looked at
		return nil
	}
	if err := s.check(w.mark.Tenant, dir); err != nil {
		return err
	}
	ctx = pawl.WithTenant(ctx, w.mark.Tenant)
	row, err := s.Roster.Workspace(ctx, dir)
	if err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return err
	}
	if err == nil && row.Epoch == w.mark.Epoch {
		keep := row.Checkpoint
		if keep == "" || s.sound(w.mark) {
			if err := s.save(ctx, w); err != nil {
				return err
			}
			keep = w.mark.Checkpoint
		}
		if err := s.Keeper.Prune(ctx, Key(w.mark.Tenant, dir), keep); err != nil {
			return err
		}
		if err := s.Roster.Vacate(ctx, dir, w.mark.Epoch); err != nil {
			return err
		}
	}
	if err := s.remove(dir); err != nil {
		return err
	}
	if err := s.unmark(w, w.mark.Tenant, dir); err != nil {
		return err
	}
	w.mark, w.known = mark{}, true
	s.forget(dir, w)
	return nil
}

// forget forgets a workspace, unless somebody has come.
func (s *Workspaces) forget(dir string, w *space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.busy == 0 {
		delete(s.spaces, dir)
	}
}
