package runner

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
)

// failing fails to save a number of times, with a given error.
type failing struct {
	CheckpointStore
	err   error
	times int
	saves int
}

func (f *failing) Save(context.Context, string, string, string) (string, int64, error) {
	if f.saves++; f.saves <= f.times {
		return "", 0, f.err
	}
	return "kept", 1, nil
}

type savedRegistry struct{ fleet.HostRegistry }

func (savedRegistry) Saved(context.Context, string, int64, string, int64) error { return nil }

// A call that has run waits until its workspace can be saved; an error that a retry cannot cure is returned at
// once.
func TestSaveRetrying(t *testing.T) {
	t.Parallel()
	away := errors.New("the store is away")
	for name, c := range map[string]struct {
		err   error
		times int
		saves int // 0 means more than a few
		ok    bool
	}{
		"it can be kept":          {nil, 0, 1, true},
		"it can after a while":    {away, 5, 6, true},
		"it never can":            {away, 1 << 30, 0, false},
		"another host has it":     {fmt.Errorf("given away: %w", pawl.ErrConflict), 1, 1, false},
		"it is too large to keep": {pawl.ErrInvalid, 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				k := &failing{err: c.err, times: c.times}
				s := &Workspaces{Registry: savedRegistry{}, Checkpoints: k, Dir: dir}
				s.acquire("/w").state = workspaceState{Dir: "/w", Epoch: 1}
				err := s.SaveRetrying(t.Context(), "/w")
				if (err == nil) != c.ok || c.saves != 0 && k.saves != c.saves || c.saves == 0 && k.saves < 10 {
					t.Errorf("after %d saves: %v", k.saves, err)
				}
			})
		})
	}
}

// A call whose step was revoked stops waiting.
func TestSaveRetrying_Taken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		k := &failing{err: errors.New("the store is away"), times: 1 << 30}
		s := &Workspaces{Registry: savedRegistry{}, Checkpoints: k, Dir: dir}
		s.acquire("/w").state = workspaceState{Dir: "/w", Epoch: 1}
		if err := s.SaveRetrying(ctx, "/w"); err == nil || k.saves != 1 {
			t.Errorf("after %d saves: %v", k.saves, err)
		}
	})
}
