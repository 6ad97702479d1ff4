package service

import (
	"context"
	"fmt"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
)

// Fork makes a session that begins as another was before an event. Its log is a
// copy, with the same numbers; what was left open there is ended here.
func (s *Service) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (pawl.Session, error) {
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return pawl.Session{}, err
	}
	if at == 0 {
		at = row.Head + 1
	}
	if at < 2 || at > row.Head+1 {
		return pawl.Session{}, fmt.Errorf("fork: session %s has no event %d: %w", id, at, pawl.ErrNotFound)
	}
	fork := pawl.SessionID(ulid.Make().String())
	var events []pawl.Event
	for e, err := range s.Store.Events(ctx, id, 0) {
		if err != nil {
			return pawl.Session{}, fmt.Errorf("fork: %w", err)
		}
		if e.Seq >= at {
			break
		}
		e.Session, e.Body = fork, copied(e.Body, pawl.Origin{Session: id, At: at})
		events = append(events, e)
	}
	h, err := pawl.FoldEvents(events)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", err)
	}
	for _, b := range ends(h) {
		e := s.event(b)
		e.Turn = h.Turns()
		events = append(events, e)
	}
	if _, err := s.Bus.Append(ctx, fork, 0, events...); err != nil {
		return pawl.Session{}, fmt.Errorf("fork: %w", err)
	}
	if s.Adopt != nil {
		if err := s.Adopt(ctx, row.Dir, id, fork); err != nil {
			return pawl.Session{}, fmt.Errorf("fork: %w", err)
		}
	}
	return s.Get(ctx, fork)
}

// copied is a body as it stands in a copy: nothing is paid for twice.
func copied(b pawl.Body, from pawl.Origin) pawl.Body {
	switch b := b.(type) {
	case pawl.SessionCreated:
		b.Forked, b.Parent, b.ParentCall = &from, "", ""
		return b
	case pawl.SessionTitled:
		b.Spent = pawl.Spent{}
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
		default:
			bodies = append(bodies, pawl.Reverted{Asked: o.Seq, Refused: "the session was forked before it was done"})
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
		if step.Reply == nil {
			continue
		}
		replies++
		for _, id := range step.Reply.Calls {
			if c := h.Call(id); !c.Finished {
				bodies = append(bodies, pawl.CallFinished{Call: id, Status: pawl.CallCanceled, Result: pawl.ErrorResult(
					"The session was forked here. What came of this call, the session that it was forked from knows.")})
			}
		}
	}
	return append(bodies, pawl.TurnFinished{Reason: pawl.ReasonCanceled, Message: "the session was forked here", Steps: replies, Usage: open.Usage})
}
