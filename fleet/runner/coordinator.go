package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/store"
)

// Coordinator implements the local activities of the workflows: they run on the worker that runs the workflow and find
// the host of a workspace.
type Coordinator struct {
	Store    store.Store
	Registry fleet.HostRegistry

	// Observe, if not nil, is called after each search for a host.
	Observe func(kind, result string, d time.Duration)
}

// Place finds a host for a session's working directory: the one that holds it, unless that is the lost host.
func (b *Coordinator) Place(ctx context.Context, job Job, lost string) (Place, error) {
	ctx = store.WithTenant(ctx, job.Tenant)
	row, err := b.Store.Session(ctx, job.Session)
	if err != nil {
		return Place{}, encodeError(err)
	}
	return b.find(ctx, row.Dir, lost)
}

func (b *Coordinator) find(ctx context.Context, dir, lost string) (Place, error) {
	began := time.Now()
	w, err := b.Registry.Place(ctx, dir, lost)
	if b.Observe != nil {
		b.Observe("place", resultOf(StepResult{}, err), time.Since(began))
	}
	return Place{Host: w.Host, Dir: dir, Epoch: w.Epoch}, encodeError(err)
}
