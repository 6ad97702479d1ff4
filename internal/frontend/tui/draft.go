package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// draftWait is how long to wait before the missed part of a reply is read; drafts are
// saved about as often.
const draftWait = 250 * time.Millisecond

// draftMsg is the saved draft of a reply.
type draftMsg struct {
	session pawl.SessionID
	draft   pawl.Draft
}

// catchUp reads the part of the reply that was missed, if any: what was streamed
// before the session was followed, or dropped because it came too fast.
func (a *app) catchUp() tea.Cmd {
	if !a.view.Log.Missed() || a.catchingUp {
		return nil
	}
	a.catchingUp = true
	svc, ctx, id := a.shared.Service, a.shared.Context, a.session.ID
	return tea.Tick(draftWait, func(time.Time) tea.Msg {
		d, _ := svc.Draft(ctx, id) // without a draft, the complete reply fills the gap
		return draftMsg{id, d}
	})
}

func (a *app) caughtUp(m draftMsg) {
	a.catchingUp = false
	if m.session == a.session.ID {
		a.view.Log.Join(m.draft)
	}
}
