package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// changes collects what the calls of a session, the user's shell commands and its subagents
// changed in the workspace and in added directories, except what was undone.
type changes struct {
	s     *Stepper
	dir   string                     // the workspace
	spans map[string][]snapshot.Span // by directory
	blind []pawl.CallID              // calls whose changes are unknown

	open bool // calls that still run count, too: their spans have no end
	turn bool // subagents that were started before the message do not count
}

// Changes is what a session changed in files.
type Changes struct {
	Dir      string                     // the workspace
	Spans    map[string][]snapshot.Span // by directory; the end of a call that still runs is ""
	Unknown  []pawl.CallID              // calls without snapshots
	Settings pawl.Settings              // of the newest prompt
}

// Changes returns what a turn of a session and its subagents changed, or the whole session if
// turn is 0, without what was undone.
func (s *Stepper) Changes(ctx context.Context, id pawl.SessionID, turn int) (Changes, error) {
	c, err := s.changesOf(ctx, id, turn)
	var internal *internalError
	if errors.As(err, &internal) {
		err = internal.err
	}
	return c, err
}

func (s *Stepper) changesOf(ctx context.Context, id pawl.SessionID, turn int) (Changes, error) {
	events, err := s.readLog(ctx, id, 0)
	if err != nil {
		return Changes{}, err
	}
	if len(events) == 0 {
		return Changes{}, store.NotFound(id)
	}
	h, err := pawl.Fold(pawl.SliceLog(events))
	if err != nil {
		return Changes{}, err
	}
	first := pawl.Seq(1)
	if turn != 0 {
		if first, events = turnEvents(events, turn); first == 0 {
			return Changes{}, fault.New(pawl.ErrNotFound, "turn %d not found: the session has had %d", turn, h.Turns())
		}
	}
	d := changes{s: s, dir: h.Created().Dir, open: true, turn: turn != 0}
	err = d.from(ctx, events, first)
	return Changes{Dir: d.dir, Spans: d.spans, Unknown: d.blind, Settings: h.Settings()}, err
}

// turnEvents returns the Seq with which a turn began, 0 if there is no such turn, and the log up to
// its end.
func turnEvents(events []pawl.Event, turn int) (first pawl.Seq, upTo []pawl.Event) {
	for _, e := range events {
		if e.Turn != turn {
			continue
		}
		switch e.Body.(type) {
		case pawl.TurnStarted:
			first = e.Seq
		case pawl.TurnFinished:
			return first, events[:e.Seq]
		default: // in the middle of it
		}
	}
	return first, events
}

// from collects the changes since a message.
func (d *changes) from(ctx context.Context, events []pawl.Event, to pawl.Seq) error {
	d.spans = map[string][]snapshot.Span{}
	err := d.log(ctx, events, to, time.Time{}, "")
	for _, spans := range d.spans {
		slices.SortStableFunc(spans, func(a, b snapshot.Span) int { return a.From.Compare(b.From) })
	}
	return err
}

// effect is a call that has begun.
type effect struct {
	before map[string]string // of the workspace and the added directories
	from   time.Time
}

// all returns the snapshots of the workspace and of the added directories.
func (d *changes) all(workspace string, dirs map[string]string) map[string]string {
	all := map[string]string{d.dir: workspace}
	maps.Copy(all, dirs)
	return all
}

// log collects the changes since an event of one log. For the log of a subagent, call is the
// call that started it. began is a lower bound for the times in the log.
func (d *changes) log(ctx context.Context, events []pawl.Event, to pawl.Seq, began time.Time, call pawl.CallID) error {
	open := map[pawl.CallID]effect{}
	var order []pawl.CallID
	now := began
	begin := func(id pawl.CallID, before map[string]string, from time.Time) {
		open[id] = effect{before, from}
		order = append(order, id)
	}
	end := func(id pawl.CallID, after map[string]string) {
		e := open[id]
		delete(open, id)
		for dir, before := range e.before {
			d.add(dir, snapshot.Span{Before: snapshot.ID(before), After: snapshot.ID(after[dir]), From: e.from, To: now}, cmp.Or(call, id))
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
				begin(b.Call, d.all(b.Snapshot, b.DirSnapshots), earlier)
			}
		case pawl.CallFinished:
			end(b.Call, d.all(b.Snapshot, b.DirSnapshots))
		case pawl.ShellStarted:
			if e.Seq >= to {
				begin(b.Asked.ShellCall(), d.all(b.Snapshot, b.DirSnapshots), earlier)
			}
		case pawl.ShellRan:
			end(b.Asked.ShellCall(), d.all(b.Snapshot, b.DirSnapshots))
		case pawl.Spawned:
			if err := d.subagent(ctx, b, e.Seq, to, events, now); err != nil {
				return err
			}
		default: // changes no files
		}
	}
	for _, id := range order {
		e, ok := open[id]
		switch {
		case ok && d.open && e.before[d.dir] != "":
			for dir, before := range e.before {
				d.spans[dir] = append(d.spans[dir], snapshot.Span{Before: snapshot.ID(before), From: e.from, To: d.s.Clock()})
			}
		case ok:
			d.add(d.dir, snapshot.Span{}, cmp.Or(call, id))
		}
	}
	return nil
}

// add records the change of a call in a directory. Without both snapshots the change is unknown.
func (d *changes) add(dir string, span snapshot.Span, call pawl.CallID) {
	switch {
	case span.Before != "" && span.After != "":
		d.spans[dir] = append(d.spans[dir], span)
	case !slices.Contains(d.blind, call):
		d.blind = append(d.blind, call)
	}
}

// subagent collects the changes of a subagent. For one that was started before the message
// and ran in the background, these are the calls that began after it.
func (d *changes) subagent(ctx context.Context, c pawl.Spawned, seq, to pawl.Seq, events []pawl.Event, began time.Time) error {
	if seq < to && (!c.Background || d.turn) {
		return nil
	}
	row, err := d.s.Store.Session(ctx, c.Subagent)
	switch {
	case errors.Is(err, pawl.ErrNotFound):
		d.add(d.dir, snapshot.Span{}, c.Call) // it was deleted, or never created
		return nil
	case err != nil:
		return &internalError{err}
	case row.State() != pawl.StateIdle && !d.open:
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
		d.add(d.dir, snapshot.Span{}, c.Call)
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
