package app

import (
	"context"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// OpenSnapshots opens the snapshots in the data directory. It returns an error if git is not found.
func OpenSnapshots(ctx context.Context) (*snapshot.Store, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	if data, err = filepath.Abs(data); err != nil {
		return nil, err
	}
	dir, err := WorkingDir()
	if err != nil {
		return nil, err
	}
	g, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return snapshot.Open(snapshot.Config{Dir: filepath.Join(data, "snapshots"), Git: g, Except: []string{data}})
}

// useSnapshots enables undoing tool calls with snapshots. If git is not found, it does nothing;
// 'pawl doctor' and each undo report that.
func useSnapshots(ctx context.Context, loop *agent.Config, svc *service.Config) {
	snapshots, err := OpenSnapshots(ctx)
	if err != nil {
		return
	}
	loop.Snapshots = snapshots
	svc.CopySnapshots, svc.DeleteSnapshots = snapshots.Adopt, snapshots.Forget
}
