package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// outbox holds what the user has sent and the service has not accepted yet. Items are
// sent one at a time, so that prompts arrive in order and the first one creates the
// session for all.
type outbox struct {
	outOfOrder map[int]outgoing // by number; earlier ones have not arrived
	last       int              // all numbers up to this one have arrived
	queue      []outgoing
	busy       bool
}

// outgoing is a prompt or command to send. The session's ID is "" until it is created.
type outgoing struct {
	session pawl.Session
	send    func(s pawl.Session) (notes []string, err error) // nil: nothing to send
	failed  func(err error) tea.Msg                          // returns the message for a failure
}

// sentMsg is the result of sending an item.
type sentMsg struct {
	session pawl.Session
	created bool
	notes   []string // for the user
	failed  tea.Msg
}

// enqueue queues an item behind those with lower numbers.
func (a *app) enqueue(number int, o outgoing) tea.Cmd {
	out := &a.outbox
	if out.outOfOrder == nil {
		out.outOfOrder = map[int]outgoing{}
	}
	out.outOfOrder[number] = o
	for {
		next, ok := out.outOfOrder[out.last+1]
		if !ok {
			return a.sendNext()
		}
		out.last++
		delete(out.outOfOrder, out.last)
		if next.send != nil {
			out.queue = append(out.queue, next)
		}
	}
}

func (a *app) sendNext() tea.Cmd {
	if a.outbox.busy || len(a.outbox.queue) == 0 {
		return nil
	}
	o := a.outbox.queue[0]
	a.outbox.queue, a.outbox.busy = a.outbox.queue[1:], true
	svc, ctx, dir := a.shared.Service, a.shared.Context, a.shared.Dir
	return func() tea.Msg {
		m := sentMsg{session: o.session}
		var err error
		if m.session.ID == "" {
			if m.session, err = svc.Create(ctx, pawl.NewSession{Dir: dir}); err != nil {
				return sentMsg{failed: o.failed(err)}
			}
			m.created = true
		}
		if m.notes, err = o.send(m.session); err != nil {
			m.failed = o.failed(err)
			if m.created && unused(ctx, svc, m.session) { // nothing happened in it
				return sentMsg{failed: o.failed(errors.Join(err, svc.Delete(ctx, m.session.ID)))}
			}
		}
		return m
	}
}

// unused reports whether nothing happened in a session since it was created.
func unused(ctx context.Context, svc pawl.Service, created pawl.Session) bool {
	s, err := svc.Get(ctx, created.ID)
	return err == nil && s.Head == created.Head
}

// sent shows a new session and the notes, and sends the next item.
func (a *app) sent(m sentMsg) tea.Cmd {
	a.outbox.busy = false
	var cmds []tea.Cmd
	if m.created {
		for i, o := range a.outbox.queue {
			if o.session.ID == "" {
				a.outbox.queue[i].session = m.session
			}
		}
	}
	if m.created && a.session.ID == "" {
		a.editor.SetSession(m.session.ID)
		a.lists.open(m.session, nil)
		cmds = append(cmds, a.follow(m.session, 0), a.queue.Open(m.session.ID, nil), a.tasks.Open(m.session.ID, nil, nil), a.mission.Open(m.session, nil))
	}
	if m.failed != nil {
		cmds = append(cmds, ui.Send(m.failed))
	} else if len(m.notes) > 0 {
		cmds = append(cmds, ui.Send(ui.Notice{Text: strings.Join(m.notes, "; ")}))
	}
	return tea.Batch(append(cmds, a.sendNext())...)
}

// dir returns the working directory of the session.
func (a *app) dir() string {
	if a.session.Dir != "" {
		return a.session.Dir
	}
	return a.shared.Dir
}

// send sends a prompt, or changes a waiting one. If that fails, the prompt returns to
// the editor.
func (a *app) send(m editor.Submit) tea.Cmd {
	svc, ctx, dir, settings := a.shared.Service, a.shared.Context, a.dir(), a.settings
	a.view.ToEnd()
	return a.enqueue(m.Number, outgoing{
		session: a.session,
		send: func(s pawl.Session) ([]string, error) {
			p, notes, err := m.Prompt(ctx, svc, dir, settings)
			switch {
			case err != nil:
			case m.Reword != 0:
				err = svc.Reword(ctx, s.ID, m.Reword, p.Parts)
			default:
				_, err = svc.Send(ctx, s.ID, p)
			}
			return notes, err
		},
		failed: func(err error) tea.Msg { return editor.SendFailed{Submit: m, Err: err} },
	})
}

// shell runs a shell command of the user. While a turn is running it waits.
func (a *app) shell(m editor.Shell) tea.Cmd {
	svc, ctx := a.shared.Service, a.shared.Context
	a.view.ToEnd()
	return a.enqueue(m.Number, outgoing{
		session: a.session,
		send: func(s pawl.Session) ([]string, error) {
			_, err := svc.Shell(ctx, s.ID, m.Command)
			return nil, err
		},
		failed: func(err error) tea.Msg { return ui.Failed{Err: err} },
	})
}

// changesWaiting lists the events that can change which prompts wait.
var changesWaiting = []pawl.Kind{
	pawl.KindOf(pawl.Prompted{}), pawl.KindOf(pawl.Reworded{}), pawl.KindOf(pawl.Withdrawn{}),
	pawl.KindOf(pawl.TurnStarted{}), pawl.KindOf(pawl.Injected{}), pawl.KindOf(pawl.TurnFinished{}),
}

// readWaiting reads the waiting prompts if an event may have changed them.
func (a *app) readWaiting(events []pawl.Event) tea.Cmd {
	changed := slices.ContainsFunc(events, func(e pawl.Event) bool { return slices.Contains(changesWaiting, pawl.KindOf(e.Body)) })
	if !changed {
		return nil
	}
	svc, ctx, id := a.shared.Service, a.shared.Context, a.session.ID
	a.lists.waitingQuery++
	ask := a.lists.waitingQuery
	return func() tea.Msg {
		list, err := svc.Waiting(ctx, id)
		if err != nil {
			return nil // the next event triggers it again
		}
		return waitingMsg{ask, editor.Waiting{Session: id, List: list}}
	}
}

// waitingMsg is the result of a query for waiting prompts. Results can arrive out of
// order.
type waitingMsg struct {
	query int
	editor.Waiting
}

// showWaiting shows the waiting prompts, unless a newer query was sent.
func (a *app) showWaiting(m waitingMsg) tea.Cmd {
	if m.query != a.lists.waitingQuery || m.Session != a.session.ID {
		return nil
	}
	a.lists.queued = len(m.List)
	return a.forward(m.Waiting)
}
