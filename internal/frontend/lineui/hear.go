package lineui

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
)

// maxPause is how long it takes at most until a lost session is read again.
const maxPause = 15 * time.Second

// A subagent is announced before it is made: so long it is waited for.
const (
	birthStep  = 50 * time.Millisecond
	birthTries = 600
)

// ear listens to a session.
type ear struct {
	id     pawl.SessionID
	who    string // the subagent that it is; "" for the session that is talked about
	cancel context.CancelFunc
}

// heard is what an ear has heard.
type heard struct {
	ear    *ear
	events []pawl.Event
	err    error // it listens again after a while, unless it has ended
	ended  bool
}

func (t *talk) tell(ctx context.Context, h heard) bool {
	select {
	case t.heard <- h:
		return true
	case <-ctx.Done():
		return false
	}
}

// follow listens to the session from after an event on, for as long as it is
// talked about.
func (t *talk) follow(ctx context.Context, id pawl.SessionID, after pawl.Seq) {
	ctx, cancel := context.WithCancel(ctx)
	e := &ear{id: id, cancel: cancel}
	t.ear = e
	go func() {
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, maxPause) {
			for event, err := range t.Service.Events(ctx, id, after) {
				if !t.tell(ctx, heard{ear: e, events: []pawl.Event{event}, err: err}) {
					return
				}
				if err != nil {
					break
				}
				after, pause = max(after, event.Seq), time.Second
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}()
}

// hear listens to what a subagent asks, until its turn ends.
func (t *talk) hear(ctx context.Context, id pawl.SessionID, who string) {
	if t.children[id] != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &ear{id: id, who: who, cancel: cancel}
	t.children[id] = e
	go func() {
		err := t.hearChild(ctx, e)
		t.tell(ctx, heard{ear: e, err: err, ended: true})
	}()
}

// hearChild tells the asks of a subagent: first those that are open, then what comes.
func (t *talk) hearChild(ctx context.Context, e *ear) error {
	row, err := t.born(ctx, e.id)
	if err != nil || row.State() == pawl.StateIdle && row.Turns > 0 {
		return err
	}
	var before []pawl.Event
	at := pawl.Seq(0)
	for event, err := range t.Service.Events(ctx, e.id, 0) {
		if err != nil {
			return err
		}
		switch event.Body.(type) {
		case pawl.Asked, pawl.Answered, pawl.TurnFinished:
			before = append(before, event)
		default: // asks nothing
		}
		if at = max(at, event.Seq); at < row.Head {
			continue
		}
		if len(before) > 0 && !t.tell(ctx, heard{ear: e, events: before}) {
			return nil
		}
		before = nil
		if _, over := event.Body.(pawl.TurnFinished); over && event.Seq > row.Head {
			return nil
		}
	}
	return nil
}

// born waits until a subagent is made.
func (t *talk) born(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	for try := 1; ; try++ {
		row, err := t.Service.Get(ctx, id)
		if !errors.Is(err, pawl.ErrNotFound) || try == birthTries {
			return row, err
		}
		select {
		case <-ctx.Done():
			return row, ctx.Err()
		case <-time.After(birthStep):
		}
	}
}
