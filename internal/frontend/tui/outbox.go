package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// outbox is what the person has sent and the service has not accepted yet. One
// thing goes at a time: prompts arrive in the order in which they were written,
// and the first one makes one session for all of them.
type outbox struct {
	outOfOrder map[int]outgoing // by their numbers: another comes before them
	last       int              // the number up to which all have come
	queue      []outgoing
	busy       bool
}

// outgoing is one thing that is sent to a session; its ID is "" until there is one.
type outgoing struct {
	session pawl.Session
	send    func(s pawl.Session) (notes []string, err error) // nil: it is not sent
	failed  func(err error) tea.Msg                          // what comes of a failure
}

// sentMsg says what came of a thing that was sent.
type sentMsg struct {
	session pawl.Session
	created bool
	notes   []string // for the person
	failed  tea.Msg
}

// post sends a thing after those that were written before it.
func (a *app) enqueue(number int, o outgoing) tea.Cmd {
	box := &a.outbox
	if box.outOfOrder == nil {
		box.outOfOrder = map[int]outgoing{}
	}
	box.outOfOrder[number] = o
	for {
		next, ok := box.outOfOrder[box.last+1]
		if !ok {
			return a.sendNext()
		}
		box.last++
		delete(box.outOfOrder, box.last)
		if next.send != nil {
			box.queue = append(box.queue, next)
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
		}
		return m
	}
}

// sent shows the session, if it is new, says what is to be known, and sends what
// waits.
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
		cmds = append(cmds, a.follow(m.session, 0), a.queue.Open(m.session.ID, nil), a.tasks.Open(m.session.ID, nil), a.mission.Open(m.session, nil))
	}
	if m.failed != nil {
		cmds = append(cmds, ui.Send(m.failed))
	} else if len(m.notes) > 0 {
		cmds = append(cmds, ui.Send(ui.Notice{Text: strings.Join(m.notes, "; ")}))
	}
	return tea.Batch(append(cmds, a.sendNext())...)
}

// dir is the directory that the session works in.
func (a *app) dir() string {
	if a.session.Dir != "" {
		return a.session.Dir
	}
	return a.shared.Dir
}

// send gives the session a prompt, or a prompt that waits other words. One that
// cannot be sent goes back to the editor.
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

// shell runs a command of the person's. While a turn is open it waits, which its
// card says.
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

// changesWaiting are the events after which other prompts may wait.
var changesWaiting = []pawl.Kind{
	pawl.KindOf(pawl.Prompted{}), pawl.KindOf(pawl.Reworded{}), pawl.KindOf(pawl.Withdrawn{}),
	pawl.KindOf(pawl.TurnStarted{}), pawl.KindOf(pawl.Injected{}), pawl.KindOf(pawl.TurnFinished{}),
}

// waiting reads which prompts wait, if events say that they may have changed.
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
			return nil // the next event asks again
		}
		return waitingMsg{ask, editor.Waiting{Session: id, List: list}}
	}
}

// waitingMsg answers one question which prompts wait. Answers can overtake each other.
type waitingMsg struct {
	query int
	editor.Waiting
}

// showWaiting shows which prompts wait, unless that is asked again by now.
func (a *app) showWaiting(m waitingMsg) tea.Cmd {
	if m.query != a.lists.waitingQuery || m.Session != a.session.ID {
		return nil
	}
	a.lists.queued = len(m.List)
	return a.forward(m.Waiting)
}
