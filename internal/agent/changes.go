package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// changes collects what the calls of a session, the user's shell commands and its subagents
// changed in the workspace, except what was undone.
type changes struct {
	s     *Stepper
	dir   string
	spans []snapshot.Span
	blind []pawl.CallID // calls whose changes are unknown
}

// from collects the changes since a message.
func (d *changes) from(ctx context.Context, events []pawl.Event, to pawl.Seq) error {
	err := d.log(ctx, events, to, time.Time{}, "")
	slices.SortStableFunc(d.spans, func(a, b snapshot.Span) int { return a.From.Compare(b.From) })
	return err
}

// log collects the changes since an event of one log. For the log of a subagent, call is the
// call that started it. began is a lower bound for the times in the log.
func (d *changes) log(ctx context.Context, events []pawl.Event, to pawl.Seq, began time.Time, call pawl.CallID) error {
	open := map[pawl.CallID]snapshot.Span{}
	var order []pawl.CallID
	now := began
	begin := func(id pawl.CallID, before string, from time.Time) {
		open[id] = snapshot.Span{Before: snapshot.ID(before), From: from}
		order = append(order, id)
	}
	end := func(id pawl.CallID, after string) {
		if span, ok := open[id]; ok {
			delete(open, id)
			span.After, span.To = snapshot.ID(after), now
			d.add(span, cmp.Or(call, id))
		}
	}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeFiles) {
		// A call begins before its snapshot is taken, so at the time of the event before.
		// Clocks can be set back: the order of the log counts.
		earlier := now
		if e.At.After(now) {
			now = e.At
		}
		switch b := e.Body.(type) {
		case pawl.CallStarted:
			if e.Seq >= to && !b.ReadOnly {
				begin(b.Call, b.Snapshot, earlier)
			}
		case pawl.CallFinished:
			end(b.Call, b.Snapshot)
		case pawl.ShellStarted:
			if e.Seq >= to {
				begin(b.Asked.ShellCall(), b.Snapshot, earlier)
			}
		case pawl.ShellRan:
			end(b.Asked.ShellCall(), b.Snapshot)
		case pawl.Spawned:
			if err := d.subagent(ctx, b, e.Seq, to, events, now); err != nil {
				return err
			}
		default: // changes no files
		}
	}
	for _, id := range order {
		if _, ok := open[id]; ok {
			d.add(snapshot.Span{}, cmp.Or(call, id))
		}
	}
	return nil
}

// add records the change of a call. Without both snapshots the change is unknown.
func (d *changes) add(span snapshot.Span, call pawl.CallID) {
	switch {
	case span.Before != "" && span.After != "":
		d.spans = append(d.spans, span)
	case !slices.Contains(d.blind, call):
		d.blind = append(d.blind, call)
	}
}

// subagent collects the changes of a subagent. For one that was started before the message
// and ran in the background, these are the calls that began after it.
func (d *changes) subagent(ctx context.Context, c pawl.Spawned, seq, to pawl.Seq, events []pawl.Event, began time.Time) error {
	if seq < to && !c.Background {
		return nil
	}
	row, err := d.s.Store.Session(ctx, c.Subagent)
	switch {
	case errors.Is(err, pawl.ErrNotFound):
		d.add(snapshot.Span{}, c.Call) // it was deleted, or never created
		return nil
	case err != nil:
		return &internalError{err}
	case row.State() != pawl.StateIdle:
		return &pawl.BusyError{Session: c.Subagent}
	}
	log, err := d.s.readLog(ctx, c.Subagent, 0)
	if err != nil {
		return err
	}
	from := pawl.Seq(1)
	if seq < to {
		from = firstAfter(log, events[to-1].At)
	}
	if row.Dir != d.dir {
		d.add(snapshot.Span{}, c.Call)
		return nil
	}
	return d.log(ctx, log, from, began, c.Call)
}

// firstAfter returns the Seq of the first event at or after a time.
func firstAfter(events []pawl.Event, at time.Time) pawl.Seq {
	for _, e := range events {
		if !e.At.Before(at) {
			return e.Seq
		}
	}
	return pawl.Seq(len(events) + 1)
}
