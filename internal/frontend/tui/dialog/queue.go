package dialog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Queue holds the pending asks of a session and its subagents, oldest first. It
// follows the subagents while they work.
type Queue struct {
	shared   *ui.Shared
	session  pawl.SessionID
	open     []Asking
	answered map[ID]bool // answered here; the log will confirm it
	heard    map[pawl.SessionID]*subagentFeed

	ctx    context.Context //nolint:containedctx // of the session that is shown: what its subagents are heard on
	cancel context.CancelFunc
}

// NewQueue returns an empty queue.
func NewQueue(s *ui.Shared) *Queue {
	q := &Queue{shared: s}
	q.Open("", nil)
	return q
}

// Open clears the queue and applies the last events of a session.
func (q *Queue) Open(id pawl.SessionID, events []pawl.Event) tea.Cmd {
	if q.cancel != nil {
		q.cancel()
	}
	q.ctx, q.cancel = context.WithCancel(q.shared.Context)
	q.session, q.open, q.answered, q.heard = id, nil, map[ID]bool{}, map[pawl.SessionID]*subagentFeed{}
	if id == "" {
		return nil
	}
	for _, e := range events {
		if _, ok := e.Subagent(); !ok { // unfinished subagents are listed below
			q.Apply(e)
		}
	}
	return q.loadSubagents()
}

// subagentsMsg lists unfinished subagents.
type subagentsMsg struct {
	parent pawl.SessionID
	rows   []pawl.Session
}

// listPause is the pause before the subagents are listed again, if the server cannot be reached.
const listPause = time.Second

// loadSubagents lists the subagents that are already working.
func (q *Queue) loadSubagents() tea.Cmd {
	ctx, svc, id := q.ctx, q.shared.Service, q.session
	return func() tea.Msg {
		for {
			rows, err := svc.List(ctx, pawl.Filter{Parent: id, Unfinished: true})
			switch {
			case err == nil:
				return subagentsMsg{id, rows.Sessions}
			case ctx.Err() != nil:
				return nil
			case !errors.Is(err, pawl.ErrUnavailable):
				return ui.Failed{Err: fmt.Errorf("follow the subagents of this session: %w", err)}
			}
			select {
			case <-time.After(listPause):
			case <-ctx.Done():
			}
		}
	}
}

// Apply applies an event of the session.
func (q *Queue) Apply(e pawl.Event) tea.Cmd {
	switch b := e.Body.(type) {
	case pawl.Asked:
		q.add(Asking{Session: q.session, Seq: e.Seq, Ask: b.Ask, At: e.At})
	case pawl.Answered:
		q.drop(ID{q.session, b.Ask})
	case pawl.TurnFinished:
		q.open = slices.DeleteFunc(q.open, func(a Asking) bool { return a.Session == q.session })
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		return q.hear(c.Subagent, fmt.Sprintf("Subagent %q (%s)", sanitize.Line(c.Title), sanitize.Line(c.Agent)))
	default: // no effect on asks
	}
	return nil
}

// Update handles the messages of subagents. It reports whether msg is one.
func (q *Queue) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case subagentsMsg:
		if m.parent != q.session {
			return nil, true
		}
		var cmds []tea.Cmd
		for _, row := range m.rows {
			cmds = append(cmds, q.hear(row.ID, fmt.Sprintf("Subagent %q", sanitize.Line(row.Name()))))
		}
		return tea.Batch(cmds...), true
	case subagentAsksMsg:
		return q.take(m), true
	case Resolved:
		q.answered[m.ID] = true
		q.drop(m.ID)
		return nil, true
	default:
		return nil, false
	}
}

// take replaces the pending asks of a subagent.
func (q *Queue) take(m subagentAsksMsg) tea.Cmd {
	if q.heard[m.subagentFeed.id] != m.subagentFeed {
		return nil // of a session that is no longer shown
	}
	q.open = slices.DeleteFunc(q.open, func(a Asking) bool {
		return a.Session == m.subagentFeed.id && !slices.ContainsFunc(m.open, func(b Asking) bool { return a.ID() == b.ID() })
	})
	for _, a := range m.open {
		q.add(a)
	}
	if m.ended {
		delete(q.heard, m.subagentFeed.id)
		if m.err != nil {
			return ui.Send(ui.Failed{Err: fmt.Errorf("follow %s: %w", m.subagentFeed.who, m.err)})
		}
		return nil
	}
	return m.subagentFeed.next()
}

func (q *Queue) add(a Asking) {
	if !q.answered[a.ID()] && !q.Has(a.ID()) {
		q.open = append(q.open, a)
	}
}

func (q *Queue) drop(id ID) {
	q.open = slices.DeleteFunc(q.open, func(a Asking) bool { return a.ID() == id })
}

// Has reports whether an ask is pending.
func (q *Queue) Has(id ID) bool {
	return slices.ContainsFunc(q.open, func(a Asking) bool { return a.ID() == id })
}

// Len returns the number of pending asks.
func (q *Queue) Len() int { return len(q.open) }

// Front returns the ask to show first.
func (q *Queue) Front() (Asking, bool) {
	if len(q.open) == 0 {
		return Asking{}, false
	}
	return q.open[0], true
}
