package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Fork makes a session that begins as another was before an event. Its log is a
// copy, with the same numbers; what was left open there is ended here. What is
// kept beside the log is copied too, so that the fork outlives its origin; the
// log comes last. Killed before it is written, there is no fork, and 'pawl gc'
// removes the snapshots that were kept for it.
func (s *Service) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (pawl.Session, error) {
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return pawl.Session{}, err
	}
	if err := noMission(row); err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", err)
	}
	if at == 0 {
		at = row.Head + 1
	}
	if at < 2 || at > row.Head+1 {
		return pawl.Session{}, fmt.Errorf("fork: session %s has no event %d: %w", id, at, pawl.ErrNotFound)
	}
	fork := pawl.SessionID(ulid.Make().String())
	events, err := s.copyLog(ctx, pawl.Origin{Session: id, At: at}, fork)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", err)
	}
	if s.Adopt != nil {
		err = s.Adopt(ctx, row.Dir, id, fork)
	}
	if err == nil { // past the bus: nobody listens to a session that is not there yet
		_, err = s.Store.Begin(ctx, fork, s.blobs(ctx, id, events), events...)
	}
	if err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", errors.Join(err, s.noFork(context.WithoutCancel(ctx), fork)))
	}
	return s.Get(ctx, fork)
}

// noFork lets go of what was kept for a fork that could not be made, even if
// nobody waits for it any more.
func (s *Service) noFork(ctx context.Context, fork pawl.SessionID) error {
	if err := s.Store.Delete(ctx, fork); err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return err
	}
	if s.Forget == nil {
		return nil
	}
	return s.Forget(ctx, fork)
}

// copyLog returns the events before a point of a session as another one's, with
// what ends what was open there.
func (s *Service) copyLog(ctx context.Context, from pawl.Origin, fork pawl.SessionID) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range s.Store.Events(ctx, from.Session, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq >= from.At {
			break
		}
		e.Session, e.Body = fork, copied(e.Body, from)
		events = append(events, e)
	}
	h, err := pawl.Fold(pawl.SliceLog(events))
	if err != nil {
		return nil, err
	}
	for _, b := range ends(h) {
		e := s.event(b)
		e.Turn = h.Turns()
		events = append(events, e)
	}
	return events, nil
}

// blobs reads the outputs of a session that the events name. One that is not
// there, as in a session that was imported, is not there in the fork either.
func (s *Service) blobs(ctx context.Context, id pawl.SessionID, events []pawl.Event) iter.Seq2[io.Reader, error] {
	return func(yield func(io.Reader, error) bool) {
		for _, e := range events {
			spill := store.FullOutput(e.Body)
			if spill == nil {
				continue
			}
			blob, err := s.Store.OpenBlob(ctx, id, spill.ID)
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

// copied is a body as it stands in a copy: nothing is paid for twice.
func copied(b pawl.Body, from pawl.Origin) pawl.Body {
	switch b := b.(type) {
	case pawl.SessionCreated:
		b.Forked, b.Parent, b.ParentCall = &from, "", ""
		return b
	case pawl.SessionShared: // a copy is shared on purpose or not at all
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

// ends returns what it takes to leave nothing open: the calls have a result, the
// turn an end, and nothing waits.
func ends(h *pawl.History) []pawl.Body {
	var bodies []pawl.Body
	if open := h.Open(); open != nil {
		bodies = append(bodies, endOf(h, open)...)
	}
	for _, o := range h.Orders() {
		switch o.Body.(type) {
		case pawl.CompactionAsked:
			bodies = append(bodies, pawl.Compacted{Asked: o.Seq, Message: "the session was forked before it was done"})
		case pawl.ShellAsked:
			bodies = append(bodies, pawl.ShellRan{Asked: o.Seq, Status: pawl.CallCanceled, Result: toolapi.ErrorResult(
				"The session was forked here. What came of this command, the session that it was forked from knows.")})
		default:
			bodies = append(bodies, pawl.Undone{Asked: o.Seq, Refused: "the session was forked before it was done"})
		}
	}
	for _, w := range h.Waiting() {
		bodies = append(bodies, pawl.Withdrawn{Prompt: w.Seq})
	}
	return bodies
}

// endOf ends the open turn.
func endOf(h *pawl.History, open *pawl.OpenTurn) []pawl.Body {
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
					"The session was forked here. What came of this call, the session that it was forked from knows.")})
			}
		}
	}
	return append(bodies, pawl.TurnFinished{Reason: pawl.ReasonCanceled, Message: "the session was forked here", Steps: replies, Usage: open.Usage})
}
