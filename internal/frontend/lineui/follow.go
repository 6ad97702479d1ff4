package lineui

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl"
)

// maxPause is the longest pause between attempts to reconnect to a session's events.
const maxPause = 15 * time.Second

// The log announces a subagent before its session exists. These bound how long to poll
// for it: 30 s.
const (
	createPoll  = 50 * time.Millisecond
	createTries = 600
)

// subscription reads the events of one session.
type subscription struct {
	id     pawl.SessionID
	asker  string // the subagent, sanitized; "" for the open session
	cancel context.CancelFunc
}

// received is what a subscription delivers to the ui's goroutine.
type received struct {
	sub    *subscription
	events []pawl.Event
	err    error // reading failed; it is retried after a pause unless ended is set
	ended  bool
}

func (u *ui) deliver(ctx context.Context, h received) bool {
	select {
	case u.received <- h:
		return true
	case <-ctx.Done():
		return false
	}
}

// follow subscribes to the open session's events after the given one, and reconnects
// until the session is left.
func (u *ui) follow(ctx context.Context, id pawl.SessionID, after pawl.Seq) {
	ctx, cancel := context.WithCancel(ctx)
	e := &subscription{id: id, cancel: cancel}
	u.sub = e
	go func() {
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, maxPause) {
			for event, err := range u.Service.Events(ctx, id, after) {
				if !u.deliver(ctx, received{sub: e, events: []pawl.Event{event}, err: err}) {
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

// followSubagent subscribes to the asks of a subagent until its turn ends.
func (u *ui) followSubagent(ctx context.Context, id pawl.SessionID, asker string) {
	if u.subagents[id] != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &subscription{id: id, asker: asker, cancel: cancel}
	u.subagents[id] = e
	go func() {
		err := u.streamAsks(ctx, e)
		u.deliver(ctx, received{sub: e, err: err, ended: true})
	}()
}

// streamAsks delivers the asks of a subagent: first those that are pending, then new
// ones.
func (u *ui) streamAsks(ctx context.Context, e *subscription) error {
	row, err := u.waitForSession(ctx, e.id)
	if err != nil || row.State() == pawl.StateIdle && row.Turns > 0 {
		return err
	}
	var before []pawl.Event
	at := pawl.Seq(0)
	for event, err := range u.Service.Events(ctx, e.id, 0) {
		if err != nil {
			return err
		}
		switch event.Body.(type) {
		case pawl.Asked, pawl.Answered, pawl.TurnFinished:
			before = append(before, event)
		default: // no effect on asks
		}
		if at = max(at, event.Seq); at < row.Head {
			continue
		}
		if len(before) > 0 && !u.deliver(ctx, received{sub: e, events: before}) {
			return nil
		}
		before = nil
		if _, over := event.Body.(pawl.TurnFinished); over && event.Seq > row.Head {
			return nil
		}
	}
	return nil
}

// waitForSession waits until a subagent's session exists.
func (u *ui) waitForSession(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	for try := 1; ; try++ {
		row, err := u.Service.Get(ctx, id)
		if !errors.Is(err, pawl.ErrNotFound) || try == createTries {
			return row, err
		}
		select {
		case <-ctx.Done():
			return row, ctx.Err()
		case <-time.After(createPoll):
		}
	}
}
