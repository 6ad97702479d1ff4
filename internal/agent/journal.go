package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/loops"
)

// errLost: another runner writes this session's turn. Whoever sees it must stop.
var errLost = errors.New("another process has taken over this session")

// journal is a session's log as this process knows it: the fold of what it has
// read, and the place where it writes. One step at a time has it; the calls
// that the step runs beside each other share it.
type journal struct {
	s    *Stepper
	id   pawl.SessionID
	step chan struct{} // held by the step at work

	brought brought // of the open turn; changes between steps only

	mu      sync.Mutex // held while an append is made
	history pawl.History
	tally   tally
	loops   loops.Detector // of the same events

	rulings map[pawl.CallID]ruling // of hooks, for calls of the open turn
	stopped error                  // a hook wants the turn to end after the step's calls
}

// enter returns the session's journal, read up to now, to one step. If another
// step has it, it is waited for: two that share what they know of the log would
// not find each other's appends in their way. The step leaves it when it is done.
func (s *Stepper) enter(ctx context.Context, id pawl.SessionID) (*journal, error) {
	s.mu.Lock()
	j := s.journals[id]
	if j == nil {
		j = &journal{s: s, id: id, step: make(chan struct{}, 1)}
		s.journals[id] = j
	}
	s.mu.Unlock()
	select {
	case j.step <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if _, err := j.readOn(ctx); err != nil {
		j.leave()
		return nil, err
	}
	return j, nil
}

func (j *journal) leave() { <-j.step }

// enterTurn is enter for a step of a turn, which must be the open one.
func (s *Stepper) enterTurn(ctx context.Context, t pawl.Turn) (*journal, error) {
	j, err := s.enter(ctx, t.Session)
	if err != nil {
		return nil, err
	}
	if open := j.history.Open(); open == nil || open.Number != t.Number {
		j.leave()
		return nil, fmt.Errorf("turn %d of session %s is not open: %w", t.Number, t.Session, errLost)
	}
	if err := j.bring(ctx); err != nil {
		j.leave()
		return nil, err
	}
	return j, nil
}

// readOn applies what the log holds beyond what is known, and returns it.
func (j *journal) readOn(ctx context.Context) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range j.s.Store.Events(ctx, j.id, j.tally.head) {
		if err != nil {
			return nil, fmt.Errorf("read log of %s: %w", j.id, err)
		}
		if err := j.apply(ctx, e); err != nil {
			return nil, fmt.Errorf("read log of %s: %w", j.id, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// apply takes in the next event, after which the log may have to be read anew.
func (j *journal) apply(ctx context.Context, e pawl.Event) error {
	j.tally.apply(e)
	if e.Seq <= j.history.Head() {
		return nil // it was read anew, beyond this one
	}
	err := j.history.Apply(e)
	if err == nil {
		j.loops.Apply(e)
		return nil
	}
	if !errors.Is(err, pawl.ErrRewound) {
		return err
	}
	var seen loops.Detector
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] {
		seen = loops.Detector{} // what was read before is read once more
		return watched(j.s.Store.Events(ctx, j.id, after), &seen)
	})
	if err != nil {
		return err
	}
	j.history, j.loops = *h, seen
	return nil
}

// watched shows a Detector what is read. It needs not know what does not count
// any more: each turn is begun anew, and no turn was open when a person went back.
func watched(events iter.Seq2[pawl.Event, error], d *loops.Detector) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				d.Apply(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// append writes the bodies at the log's end. What the service writes (prompts and
// what becomes of them while they wait, orders, titles, answers) may come in between
// at any time; anything else there means that the session was lost.
func (j *journal) append(ctx context.Context, bodies ...pawl.Body) ([]pawl.Event, error) {
	return j.appendIf(ctx, func() bool { return true }, bodies...)
}

// appendIf is append as long as the condition holds of the history at the log's
// end; otherwise it writes nothing.
func (j *journal) appendIf(ctx context.Context, holds func() bool, bodies ...pawl.Body) ([]pawl.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	events := make([]pawl.Event, len(bodies))
	turn := j.history.Turns()
	for i, b := range bodies {
		if _, starts := b.(pawl.TurnStarted); starts {
			turn++
		}
		events[i] = pawl.Event{Turn: turn, At: j.s.Clock(), Body: b}
	}
	for holds() {
		stored, err := j.s.Bus.Append(ctx, j.id, j.history.Head(), events...)
		if err == nil {
			for _, e := range stored {
				if err := j.apply(context.WithoutCancel(ctx), e); err != nil {
					return nil, fmt.Errorf("append to %s: %w", j.id, err)
				}
			}
			return stored, nil
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return nil, fmt.Errorf("append %s: %w", pawl.KindOf(bodies[0]), err)
		}
		between, err := j.readOn(ctx)
		if err != nil {
			return nil, err
		}
		if len(between) == 0 {
			return nil, fmt.Errorf("append %s: there is nothing new in the log: %w", pawl.KindOf(bodies[0]), pawl.ErrConflict)
		}
		for _, e := range between {
			switch e.Body.(type) {
			case pawl.Prompted, pawl.Reworded, pawl.Withdrawn, pawl.SessionTitled, pawl.SessionShared, pawl.SessionSummarized, pawl.Answered,
				pawl.CompactionAsked, pawl.RevertAsked, pawl.ShellAsked:
			default:
				return nil, fmt.Errorf("append %s: found %s at %d: %w", pawl.KindOf(bodies[0]), pawl.KindOf(e.Body), e.Seq, errLost)
			}
		}
	}
	return nil, nil
}

// publish makes an unsaved body heard.
func (j *journal) publish(turn int, b pawl.Body) {
	j.s.Bus.Publish(pawl.Event{Session: j.id, Turn: turn, At: j.s.Clock(), Body: b})
}

// steering returns the waiting prompts that steer the open turn.
func (j *journal) steering() []pawl.Waiting {
	var steer []pawl.Waiting
	for _, w := range j.history.Waiting() {
		if w.Prompt.Delivery == pawl.DeliverSteer {
			steer = append(steer, w)
		}
	}
	return steer
}

// abandon returns a result for each call of the open turn that has none: a call
// that never began gets the given status, one that did has an unknown outcome.
func (j *journal) abandon(ctx context.Context, status pawl.CallStatus) []pawl.Body {
	var bodies []pawl.Body
	for _, step := range j.history.Open().Steps {
		if step.Reply == nil {
			continue
		}
		for _, id := range step.Reply.Calls {
			switch call := j.history.Call(id); {
			case call.Finished:
			case call.Started == nil:
				bodies = append(bodies, pawl.CallFinished{Call: id, Status: status, Result: pawl.ErrorResult("not run: " + string(status))})
			default:
				bodies = append(bodies, j.s.unknown(ctx, j, *call.Started))
			}
		}
	}
	return bodies
}

// unknownOutcome is the result of a call that was running when pawl died.
func unknownOutcome(id pawl.CallID) pawl.CallFinished {
	return pawl.CallFinished{Call: id, Status: pawl.CallUnknown, Result: pawl.ErrorResult(
		"The outcome of this call is unknown: pawl was stopped while it ran, so it may have done all, part or none of its work. " +
			"It was not run again. Look at the current state before you go on.")}
}
