package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
)

// lease takes the session's lease for this process. It does not wait for a holder on this host that has
// died, and kills the processes that it left running first.
func (r *Runner) lease(ctx context.Context, id pawl.SessionID) error {
	from, err := r.acquire(ctx, id, "")
	var busy *pawl.BusyError
	if errors.As(err, &busy) {
		holder, parseErr := proc.Parse(busy.Holder)
		if parseErr != nil {
			return err
		}
		if !holder.Ended() {
			return &pawl.BusyError{Session: id, Holder: fmt.Sprintf("process %d on %s", holder.PID, holder.Host)}
		}
		from, err = r.acquire(ctx, id, store.Owner(busy.Holder))
	}
	if err != nil {
		return fmt.Errorf("acquire session %s: %w", id, err)
	}
	if before, err := proc.Parse(string(from)); err == nil && before.Ended() {
		proc.Reap(before.Mark)
	}
	return nil
}

func (r *Runner) acquire(ctx context.Context, id pawl.SessionID, dead store.Owner) (store.Owner, error) {
	return r.Stepper.Store.Acquire(ctx, id, store.Owner(r.Owner.String()), r.LeaseTTL, dead)
}

// Abandoned reports whether no process works on the session: nobody holds its lease, or the holder ran on this host
// and has died.
func (r *Runner) Abandoned(ctx context.Context, id pawl.SessionID) (bool, error) {
	if r.Works(id) {
		return false, nil
	}
	owner, err := r.Stepper.Store.Holder(ctx, id)
	if err != nil || owner == "" {
		return err == nil, err
	}
	holder, err := proc.Parse(string(owner))
	return err == nil && holder.Ended(), nil
}

// heartbeat renews the lease until ctx ends. If it cannot, it stops the work before the lease expires,
// because another process may take over then.
func (r *Runner) heartbeat(ctx context.Context, id pawl.SessionID, lost context.CancelCauseFunc) {
	every := r.LeaseTTL / 3
	tick := time.NewTicker(every)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		attempt, cancel := context.WithTimeout(ctx, every)
		_, err := r.acquire(attempt, id, "")
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			renewed = began
		case errors.Is(err, pawl.ErrBusy), time.Since(renewed) >= 2*every:
			lost(fmt.Errorf("lost the lease of session %s: %w", id, err))
			return
		}
	}
}
