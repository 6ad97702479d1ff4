package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// Coordinator is what a workflow asks without leaving its worker: its local activities.
type Coordinator struct {
	Store  pawl.Store
	Roster pawl.HostRegistry

	// Observe is told of each search for a host; nil means nobody is.
	Observe func(kind, result string, d time.Duration)
}

// Place finds a host for a session's directory: the one that has it, unless that is
// lost.
func (b *Coordinator) Place(ctx context.Context, job Job, lost string) (Place, error) {
	ctx = pawl.WithTenant(ctx, job.Tenant)
	row, err := b.Store.Session(ctx, job.Session)
	if err != nil {
		return Place{}, sent(err)
	}
	return b.find(ctx, row.Dir, lost)
}

func (b *Coordinator) find(ctx context.Context, dir, lost string) (Place, error) {
	began := time.Now()
	w, err := b.Roster.Place(ctx, dir, lost)
	if b.Observe != nil {
		b.Observe("place", resultOf(StepResult{}, err), time.Since(began))
	}
	return Place{Host: w.Host, Dir: dir, Epoch: w.Epoch}, sent(err)
}
