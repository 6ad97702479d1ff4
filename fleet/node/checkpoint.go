package node

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/checkpoint"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/store"
)

// keeper saves checkpoints of workspaces, including their undo snapshots.
type keeper struct {
	checkpoint.Store
	undo func(dir string) string // the directory of a workspace's snapshots; nil without git
	sent atomic.Int64            // bytes uploaded
}

// openKeeper returns the keeper of checkpoints, or nil if the configuration names
// no blob store: then the workspaces of a lost host are lost too.
func (c *Connections) openKeeper(ctx context.Context, data string) (*keeper, error) {
	if c.Blobs == "" {
		return nil, nil
	}
	blobs, err := blob.Open(ctx, c.Blobs)
	if err != nil {
		return nil, err
	}
	k := &keeper{Store: checkpoint.Store{Blobs: blobs, Dir: filepath.Join(data, "checkpoints"), IgnoreEmptyDir: sandbox.PlaceholderMode}}
	if snapshots, err := app.OpenSnapshots(ctx); err == nil {
		k.undo = snapshots.Path
	}
	return k, nil
}

func (k *keeper) roots(dir string) []checkpoint.Root {
	roots := []checkpoint.Root{{Name: "work", Path: dir}}
	if k.undo != nil {
		roots = append(roots, checkpoint.Root{Name: "undo", Path: k.undo(dir)})
	}
	return roots
}

// Save uploads a checkpoint of dir that builds on the checkpoint from, and returns
// its id and size.
func (k *keeper) Save(ctx context.Context, key, dir, from string) (string, int64, error) {
	id, stats, err := k.Store.Save(ctx, key, k.roots(dir), from)
	k.sent.Add(stats.Sent)
	return id, stats.Bytes, err
}

// Restore sets the content of dir to that of a checkpoint.
func (k *keeper) Restore(ctx context.Context, key, dir, id string) error {
	return k.Store.Restore(ctx, key, id, k.roots(dir))
}

// Prune deletes all checkpoints of key but one.
func (k *keeper) Prune(ctx context.Context, key, keep string) error {
	return k.Store.Prune(ctx, key, keep)
}

// workspaceDropper returns a function that unregisters a workspace and deletes its
// checkpoints. The host that holds the workspace deletes the directory when it next
// cleans up.
func (c *Connections) workspaceDropper(ctx context.Context, hosts fleet.HostRegistry) (func(context.Context, string) error, error) {
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	k, err := c.openKeeper(ctx, data)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, dir string) error {
		if err := hosts.Drop(ctx, dir); err != nil || k == nil {
			return err
		}
		return k.Drop(ctx, runner.Key(store.TenantOf(ctx), dir))
	}, nil
}
