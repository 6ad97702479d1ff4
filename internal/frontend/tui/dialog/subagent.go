package dialog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// The log announces a subagent before its session exists. These bound how long to poll
// for it.
const (
	birthStep  = 50 * time.Millisecond
	birthTries = 600
)

// subagentFeed follows the asks of a subagent.
type subagentFeed struct {
	id   pawl.SessionID
	who  string
	said chan subagentAsksMsg
	done <-chan struct{}
}

// subagentAsksMsg is all that a subagent asks now.
type subagentAsksMsg struct {
	subagentFeed *subagentFeed
	open         []Asking
	ended        bool
	err          error
}

// hear follows a subagent, unless it is followed already.
func (q *Queue) hear(id pawl.SessionID, who string) tea.Cmd {
	if q.heard[id] != nil {
		return nil
	}
	c := &subagentFeed{id: id, who: who, said: make(chan subagentAsksMsg), done: q.ctx.Done()}
	q.heard[id] = c
	go c.listen(q.ctx, q.shared.Service)
	return c.next()
}

// next returns a command that waits for the subagent's asks.
func (c *subagentFeed) next() tea.Cmd {
	return func() tea.Msg {
		select {
		case m := <-c.said:
			return m
		case <-c.done:
			return nil
		}
	}
}

func (c *subagentFeed) say(m subagentAsksMsg) {
	m.subagentFeed = c
	select {
	case c.said <- m:
	case <-c.done:
	}
}

// listen delivers the subagent's asks until its turn ends.
func (c *subagentFeed) listen(ctx context.Context, svc pawl.Service) {
	row, err := c.waitForSession(ctx, svc)
	if err != nil {
		c.say(subagentAsksMsg{ended: true, err: err})
		return
	}
	open := map[pawl.Seq]Asking{}
	if row.State() == pawl.StateIdle && row.Turns > 0 {
		c.say(subagentAsksMsg{ended: true})
		return
	}
	for e, err := range svc.Events(ctx, c.id, 0) {
		if err != nil {
			c.say(subagentAsksMsg{ended: true, err: err})
			return
		}
		changed := c.apply(open, e)
		_, over := e.Body.(pawl.TurnFinished)
		over = over && e.Seq > row.Head
		if caughtUp := e.Seq == row.Head && len(open) > 0; over || caughtUp || changed && e.Seq > row.Head {
			c.say(subagentAsksMsg{open: slices.SortedFunc(maps.Values(open), bySeq), ended: over})
		}
		if over {
			return
		}
	}
}

func bySeq(a, b Asking) int { return int(a.Seq - b.Seq) }

// apply applies an event. It reports whether the pending asks have changed.
func (c *subagentFeed) apply(open map[pawl.Seq]Asking, e pawl.Event) bool {
	before := len(open)
	switch b := e.Body.(type) {
	case pawl.Asked:
		open[e.Seq] = Asking{Session: c.id, Seq: e.Seq, Who: c.who, Ask: b.Ask, At: e.At}
	case pawl.Answered:
		delete(open, b.Ask)
	case pawl.TurnFinished:
		clear(open)
	default: // no effect on asks
	}
	return len(open) != before
}

// waitForSession waits until the subagent's session exists.
func (c *subagentFeed) waitForSession(ctx context.Context, svc pawl.Service) (pawl.Session, error) {
	for try := 1; ; try++ {
		row, err := svc.Get(ctx, c.id)
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
