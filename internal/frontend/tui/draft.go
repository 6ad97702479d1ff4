package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// draftWait is how long a reply is left to grow before what was missed of it is
// read: the draft is saved about as often.
const draftWait = 250 * time.Millisecond

// draftMsg is a reply as far as it was written down.
type draftMsg struct {
	session pawl.SessionID
	draft   pawl.Draft
}

// catchUp reads what was missed of the reply, if something was: it was written
// before the session was watched, or faster than it could be shown.
func (a *app) catchUp() tea.Cmd {
	if !a.view.Log.Missed() || a.catchingUp {
		return nil
	}
	a.catchingUp = true
	svc, ctx, id := a.shared.Service, a.shared.Context, a.session.ID
	return tea.Tick(draftWait, func(time.Time) tea.Msg {
		d, _ := svc.Draft(ctx, id) // without one, the whole comes with the reply
		return draftMsg{id, d}
	})
}

func (a *app) caughtUp(m draftMsg) {
	a.catchingUp = false
	if m.session == a.session.ID {
		a.view.Log.Join(m.draft)
	}
}
