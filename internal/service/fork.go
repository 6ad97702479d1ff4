package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Fork creates a session that begins as another one was before an event. Its log is a copy with
// the same Seqs; what is open in it is closed. Blobs and snapshots are copied too, so that the
// fork outlives its origin. The log is written last: if the process is killed before that, there
// is no fork, and 'pawl gc' removes the snapshots that were kept for it.
func (s *Service) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (pawl.Session, error) {
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return pawl.Session{}, err
	}
	if err := rejectMission(row); err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", err)
	}
	if at == 0 {
		at = row.Head + 1
	}
	if at < 2 || at > row.Head+1 {
		return pawl.Session{}, fault.New(pawl.ErrNotFound, "fork: session %s has no event %d", id, at)
	}
	fork := pawl.SessionID(ulid.Make().String())
	events, err := s.copyLog(ctx, pawl.Origin{Session: id, At: at}, fork)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", err)
	}
	for _, dir := range snapshotDirs(row.Dir, events) {
		if s.CopySnapshots != nil && err == nil {
			err = s.CopySnapshots(ctx, dir, id, fork)
		}
	}
	if err == nil { // not through the bus: nobody listens to a session that does not exist yet
		_, err = s.Store.Begin(ctx, fork, s.blobs(ctx, id, events), events...)
	}
	if err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", errors.Join(err, s.removeFork(context.WithoutCancel(ctx), fork)))
	}
	return s.Get(ctx, fork)
}

// snapshotDirs returns the directories that events have snapshots of: the workspace and those
// that were added.
func snapshotDirs(workspace string, events []pawl.Event) []string {
	dirs := map[string]bool{workspace: true}
	for _, e := range events {
		var taken map[string]string
		switch b := e.Body.(type) {
		case pawl.CallStarted:
			taken = b.DirSnapshots
		case pawl.ShellStarted:
			taken = b.DirSnapshots
		default:
		}
		for dir := range taken {
			dirs[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// removeFork removes what was kept for a fork that failed. ctx must not be canceled.
func (s *Service) removeFork(ctx context.Context, fork pawl.SessionID) error {
	if err := s.Store.Delete(ctx, fork); err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return err
	}
	if s.DeleteSnapshots == nil {
		return nil
	}
	return s.DeleteSnapshots(ctx, fork)
}

// copyLog returns the events before a point of a session as events of the fork, followed by the
// events that close what is open.
func (s *Service) copyLog(ctx context.Context, from pawl.Origin, fork pawl.SessionID) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range s.Store.Events(ctx, from.Session, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq >= from.At {
			break
		}
		e.Session, e.Body = fork, forkBody(e.Body, from)
		events = append(events, e)
	}
	h, err := pawl.Fold(pawl.SliceLog(events))
	if err != nil {
		return nil, err
	}
	for _, b := range closingEvents(h, "forked") {
		e := s.event(b)
		e.Turn = h.Turns()
		events = append(events, e)
	}
	return events, nil
}

// blobs reads the outputs that the events refer to. Outputs that are missing, as in an imported
// session, are missing in the fork too.
func (s *Service) blobs(ctx context.Context, id pawl.SessionID, events []pawl.Event) iter.Seq2[io.Reader, error] {
	return func(yield func(io.Reader, error) bool) {
		for _, e := range events {
			output := store.FullOutput(e.Body)
			if output == nil {
				continue
			}
			blob, err := s.Store.OpenBlob(ctx, id, output.ID)
			if errors.Is(err, pawl.ErrNotFound) {
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			more := yield(blob, nil)
			if err := blob.Close(); err != nil && more {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// forkBody returns a body as the fork has it. Its usage is zero: nothing is paid for twice.
func forkBody(b pawl.Body, from pawl.Origin) pawl.Body {
	switch b := b.(type) {
	case pawl.SessionCreated:
		b.Forked, b.Parent, b.ParentCall = &from, "", ""
		return b
	case pawl.SessionShared: // a fork is not shared until its owner does
		b.With = nil
		return b
	case pawl.SessionTitled:
		b.Usage = pawl.Usage{}
		return b
	case pawl.SessionSummarized:
		b.Usage = pawl.Usage{}
		return b
	case pawl.Replied:
		b.Usage = pawl.Usage{}
		return b
	case pawl.Compacted:
		b.Usage = pawl.Usage{}
		return b
	case pawl.TurnFinished:
		b.Usage = pawl.Usage{}
		return b
	default:
		return b
	}
}

// closingEvents returns the events that close everything open: calls get a result, the turn ends,
// orders fail and waiting prompts are withdrawn. how is what happened to the session: forked or
// imported.
func closingEvents(h *pawl.History, how string) []pawl.Body {
	var bodies []pawl.Body
	if open := h.Open(); open != nil {
		bodies = append(bodies, endTurn(h, open, how)...)
	}
	for _, o := range h.Orders() {
		switch o.Body.(type) {
		case pawl.CompactionAsked:
			bodies = append(bodies, pawl.Compacted{Asked: o.Seq, Message: "canceled: the session was " + how})
		case pawl.ShellAsked:
			bodies = append(bodies, pawl.ShellRan{Asked: o.Seq, Status: pawl.CallCanceled, Result: toolapi.ErrorResult(
				"The session was " + how + " here. The result of this command is in the original session.")})
		default:
			bodies = append(bodies, pawl.Undone{Asked: o.Seq, Refused: "canceled: the session was " + how})
		}
	}
	for _, w := range h.Waiting() {
		bodies = append(bodies, pawl.Withdrawn{Prompt: w.Seq})
	}
	return bodies
}

// endTurn returns the events that end the open turn.
func endTurn(h *pawl.History, open *pawl.OpenTurn, how string) []pawl.Body {
	var bodies []pawl.Body
	replies := 0
	for _, step := range open.Steps {
		if !step.Replied {
			continue
		}
		replies++
		for _, id := range step.Calls {
			if c := h.Call(id); !c.Finished {
				bodies = append(bodies, pawl.CallFinished{Call: id, Status: pawl.CallCanceled, Result: toolapi.ErrorResult(
					"The session was " + how + " here. The result of this call is in the original session.")})
			}
		}
	}
	return append(bodies, pawl.TurnFinished{Reason: pawl.ReasonCanceled, Message: "the session was " + how + " here", Steps: replies, Usage: open.Usage})
}
