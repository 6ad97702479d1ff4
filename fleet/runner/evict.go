package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Bounds of how long a host keeps idle workspaces on its disk.
const (
	tidyEvery = time.Minute
	keepFor   = 24 * time.Hour  // so that the next turn starts without a restore
	keepFull  = 5 * time.Minute // while the disk is full
)

// EvictIdle removes idle workspaces from the disk until ctx ends. Each is saved in a checkpoint first.
func (s *Workspaces) EvictIdle(ctx context.Context, log *slog.Logger) {
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
		if n, err := s.evictIdle(ctx, after); err != nil && ctx.Err() == nil {
			log.Warn("cannot remove unused workspaces", "error", err)
		} else if n > 0 {
			log.Info("removed unused workspaces", "workspaces", n)
		}
	}
}

// evictIdle removes the workspaces that were idle for at least after, and returns how many.
func (s *Workspaces) evictIdle(ctx context.Context, after time.Duration) (n int, err error) {
	if s.Checkpoints == nil {
		return 0, nil // the only copy is here
	}
	idle, err := s.orphaned(ctx)
	if err != nil {
		return 0, err
	}
	maps.Copy(idle, s.idle(after))
	for dir, w := range idle {
		if fault := s.evict(ctx, dir, w); fault != nil { // continue with the others
			err = errors.Join(err, fmt.Errorf("remove workspace %s: %w", dir, fault))
			continue
		}
		n++
	}
	return n, err
}

// orphaned returns the idle workspaces that the registry no longer assigns to this host: another host has them, or they
// were dropped.
func (s *Workspaces) orphaned(ctx context.Context) (map[string]*workspace, error) {
	idle := s.idle(tidyEvery) // read before the registry, so that a workspace assigned in between is not in it
	rows, err := s.Registry.Workspaces(ctx, s.Host)
	for _, row := range rows {
		delete(idle, row.Dir)
	}
	return idle, err
}

func (s *Workspaces) idle(after time.Duration) map[string]*workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := map[string]*workspace{}
	for dir, w := range s.entries {
		if w.busy == 0 && time.Since(w.used) >= after {
			idle[dir] = w
		}
	}
	return idle
}

// inUse reports whether a step runs in a workspace.
func (s *Workspaces) inUse(w *workspace) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.busy > 0
}

// evict saves a workspace in a checkpoint and removes it from the disk. It holds the workspace's lock: a step that
// enters later restores it, and one that has entered already prevents the eviction.
func (s *Workspaces) evict(ctx context.Context, dir string, w *workspace) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.inUse(w) {
		return nil
	}
	if w.state.Epoch == 0 {
		s.forget(dir, w) // nothing was restored here
		return nil
	}
	if err := s.check(w.state.Tenant, dir); err != nil {
		return err
	}
	ctx = store.WithTenant(ctx, w.state.Tenant)
	row, err := s.Registry.Workspace(ctx, dir)
	if err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return err
	}
	if err == nil && row.Epoch == w.state.Epoch {
		keep := row.Checkpoint
		if keep == "" || s.intact(w.state) {
			if err := s.save(ctx, w); err != nil {
				return err
			}
			keep = w.state.Checkpoint
		}
		if err := s.Checkpoints.Prune(ctx, Key(w.state.Tenant, dir), keep); err != nil {
			return err
		}
		if err := s.Registry.Vacate(ctx, dir, w.state.Epoch); err != nil {
			return err
		}
	}
	if err := s.remove(dir); err != nil {
		return err
	}
	if err := s.deleteState(w, w.state.Tenant, dir); err != nil {
		return err
	}
	w.state, w.known = workspaceState{}, true
	s.forget(dir, w)
	return nil
}

// forget removes a workspace from the map unless it was entered again.
func (s *Workspaces) forget(dir string, w *workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.busy == 0 {
		delete(s.entries, dir)
	}
}
