package bus

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// errStop means that the iteration was broken off.
var errStop = errors.New("stop")

// follower advances one iteration. last is the Seq of the newest durable event that it has yielded;
// it never yields a durable event other than last+1, which makes the stream complete.
type follower struct {
	store store.Store
	id    pawl.SessionID
	last  pawl.Seq
	yield func(pawl.Event, error) bool
}

// follow yields the events in the store and then those that the reader is offered. It returns nil
// when ctx ends or the iteration is broken off.
func (f *follower) follow(ctx context.Context, r *reader, poll time.Duration) error {
	err := f.catchUp(ctx)
	timer := time.NewTimer(poll)
	defer timer.Stop()
	var batch []pawl.Event
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-r.news:
			var cut bool
			before := f.last
			batch, cut = r.take(batch)
			err = f.take(ctx, batch, cut)
			if f.last != before {
				timer.Reset(poll)
			}
		case <-timer.C:
			err = f.poll(ctx)
			timer.Reset(poll)
		}
	}
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// take yields a batch of live events, and reads missing ones from the store.
func (f *follower) take(ctx context.Context, batch []pawl.Event, cut bool) error {
	if cut {
		if err := f.catchUp(ctx); err != nil {
			return err
		}
	}
	batch = f.fresh(batch)
	for len(batch) > 0 {
		if f.missesBefore(batch[0]) {
			if err := f.catchUp(ctx); err != nil {
				return err
			}
			if f.missesBefore(batch[0]) {
				batch = batch[1:] // the store does not have the events before it either
			}
			batch = f.fresh(batch)
			continue
		}
		if e := batch[0]; e.Seq == 0 || e.Seq > f.last { // a link may deliver it twice
			if err := f.pass(ctx, e); err != nil {
				return err
			}
		}
		batch = batch[1:]
	}
	return nil
}

// fresh removes from the batch the durable events that were yielded already, and the unsaved ones
// before them, which are outdated.
func (f *follower) fresh(batch []pawl.Event) []pawl.Event {
	known := -1
	for i, e := range batch {
		if e.Seq != 0 && e.Seq <= f.last {
			known = i
		}
	}
	kept := batch[:0]
	for i, e := range batch {
		if e.Seq > f.last || e.Seq == 0 && i > known {
			kept = append(kept, e)
		}
	}
	return kept
}

// missesBefore reports whether durable events before e have not been yielded yet.
func (f *follower) missesBefore(e pawl.Event) bool {
	if e.Body == nil {
		return e.Seq > f.last // a notice: the event itself is only in the store
	}
	if d, ok := e.Body.(pawl.Delta); ok {
		return d.Reply > f.last
	}
	return e.Seq > f.last+1
}

// poll catches up if another process has appended.
func (f *follower) poll(ctx context.Context) error {
	s, err := f.store.Session(ctx, f.id)
	if err != nil || s.Head <= f.last {
		return err
	}
	return f.catchUp(ctx)
}

// catchUp yields the events of the store after last.
func (f *follower) catchUp(ctx context.Context) error {
	for e, err := range f.store.Events(ctx, f.id, f.last) {
		if err != nil {
			return err
		}
		if err := f.pass(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// pass yields one event. It returns errStop if the iteration was broken off.
func (f *follower) pass(ctx context.Context, e pawl.Event) error {
	if ctx.Err() != nil || !f.yield(e, nil) {
		return errStop
	}
	if e.Seq != 0 {
		f.last = e.Seq
	}
	return nil
}
