package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/loops"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// errTakenOver means that another runner writes this session's turn: whoever sees it
// must stop.
var errTakenOver = errors.New("another process has taken over this session")

// journal reads and writes the log of one session: it holds the fold of the events
// read so far and appends new ones. One step at a time holds it, from enter to leave.
// The parallel calls of a step share it; they read the history under mu.
type journal struct {
	id    pawl.SessionID
	store store.Store
	bus   Bus
	clock func() time.Time

	finished func(pawl.CallID) // called when the result of a call is in the log

	step    chan struct{} // a semaphore: full while a step holds the journal
	project projectConfig // of the open turn; changes between steps only
	parent  parentLog     // of a subagent

	mu      sync.Mutex // held during an append
	history pawl.History
	context contextFold
	loops   loops.Detector

	rulings map[pawl.CallID]hookRuling // of the open turn
	stopped error                      // set if a hook ends the turn after the step's calls
}

// enter returns the session's journal, read up to the end of the log. It waits for a
// step that holds it: if two steps shared a fold, neither would notice the other's
// appends as conflicts. The caller must call leave.
func (s *Stepper) enter(ctx context.Context, id pawl.SessionID) (*journal, error) {
	var j *journal
	s.sessions.update(id, func(st *sessionState) {
		if st.journal == nil {
			st.journal = &journal{id: id, store: s.Store, bus: s.Bus, clock: s.Clock, finished: s.forgetCommand(id), step: make(chan struct{}, 1)}
		}
		j = st.journal
	})
	select {
	case j.step <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if _, err := j.catchUp(ctx); err != nil {
		j.leave()
		return nil, err
	}
	return j, nil
}

func (j *journal) leave() { <-j.step }

// enterTurn is enter for a step of a turn. It returns errTakenOver if that turn is not
// the open one.
func (s *Stepper) enterTurn(ctx context.Context, t Turn) (*journal, error) {
	j, err := s.enter(ctx, t.Session)
	if err != nil {
		return nil, err
	}
	if open := j.history.Open(); open == nil || open.Number != t.Number {
		j.leave()
		return nil, fmt.Errorf("turn %d of session %s is not open: %w", t.Number, t.Session, errTakenOver)
	}
	if err := s.loadProject(ctx, j); err != nil {
		j.leave()
		return nil, err
	}
	return j, nil
}

// settings returns the settings of the open turn or, without one, of the newest prompt.
func (j *journal) settings() pawl.Settings {
	j.mu.Lock()
	defer j.mu.Unlock()
	if open := j.history.Open(); open != nil {
		return open.Settings
	}
	return j.history.Settings()
}

// catchUp applies the events that the log has beyond the fold, and returns them.
func (j *journal) catchUp(ctx context.Context) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range j.store.Events(ctx, j.id, j.context.head) {
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

// apply folds the next event. After an undo or redo it folds the whole log again.
func (j *journal) apply(ctx context.Context, e pawl.Event) error {
	j.context.apply(e)
	if e.Seq <= j.history.Head() {
		return nil // folding the whole log again went past this one
	}
	err := j.history.Apply(e)
	if err == nil {
		j.loops.Apply(e)
		return nil
	}
	if !errors.Is(err, pawl.ErrRewound) {
		return err
	}
	var detector loops.Detector
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] {
		detector = loops.Detector{} // Fold reads the log more than once
		return detecting(j.store.Events(ctx, j.id, after), &detector)
	})
	if err != nil {
		return err
	}
	j.history, j.loops = *h, detector
	return nil
}

// detecting yields the events and applies each to d. Undone events do no harm: the
// detector starts anew with each turn, and no turn was open at an undo.
func detecting(events iter.Seq2[pawl.Event, error], d *loops.Detector) iter.Seq2[pawl.Event, error] {
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

// append writes the bodies at the end of the log. The service may write in between at
// any time (prompts and changes to waiting ones, orders, titles, answers); any other
// event there means that another runner has taken over, and append returns errTakenOver.
func (j *journal) append(ctx context.Context, bodies ...pawl.Body) ([]pawl.Event, error) {
	return j.appendIf(ctx, func() bool { return true }, bodies...)
}

// appendIf is append under a condition, which is checked under mu against the history
// at the end of the log. If it does not hold, appendIf writes nothing and returns nil.
func (j *journal) appendIf(ctx context.Context, holds func() bool, bodies ...pawl.Body) ([]pawl.Event, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	events := make([]pawl.Event, len(bodies))
	turn := j.history.Turns()
	for i, b := range bodies {
		if _, starts := b.(pawl.TurnStarted); starts {
			turn++
		}
		events[i] = pawl.Event{Turn: turn, At: j.clock(), Body: b}
	}
	for holds() {
		stored, err := j.bus.Append(ctx, j.id, j.history.Head(), events...)
		if err == nil {
			for _, e := range stored {
				if err := j.apply(context.WithoutCancel(ctx), e); err != nil {
					return nil, fmt.Errorf("append to %s: %w", j.id, err)
				}
				switch b := e.Body.(type) {
				case pawl.CallFinished:
					j.finished(b.Call)
				case pawl.ShellRan:
					j.finished(b.Asked.ShellCall())
				default: // no result
				}
			}
			return stored, nil
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return nil, fmt.Errorf("append %s: %w", pawl.KindOf(bodies[0]), err)
		}
		between, err := j.catchUp(ctx)
		if err != nil {
			return nil, err
		}
		if len(between) == 0 {
			return nil, fault.New(pawl.ErrConflict, "append %s: conflict, but the log has no new events", pawl.KindOf(bodies[0]))
		}
		for _, e := range between {
			switch e.Body.(type) {
			case pawl.Prompted, pawl.Reworded, pawl.Withdrawn, pawl.SessionTitled, pawl.SessionShared, pawl.SessionSummarized, pawl.Answered,
				pawl.CompactionAsked, pawl.UndoAsked, pawl.ShellAsked:
			default:
				return nil, fmt.Errorf("append %s: found %s at %d: %w", pawl.KindOf(bodies[0]), pawl.KindOf(e.Body), e.Seq, errTakenOver)
			}
		}
	}
	return nil, nil
}

// publish sends a body to current listeners without storing it.
func (j *journal) publish(turn int, b pawl.Body) {
	j.bus.Publish(pawl.Event{Session: j.id, Turn: turn, At: j.clock(), Body: b})
}

// steeringPrompts returns the waiting prompts that steer the open turn.
func (j *journal) steeringPrompts() []pawl.Waiting {
	var steer []pawl.Waiting
	for _, w := range j.history.Waiting() {
		if w.Prompt.Delivery == pawl.DeliverSteer && j.steersOpenTurn(w) {
			steer = append(steer, w)
		}
	}
	return steer
}
