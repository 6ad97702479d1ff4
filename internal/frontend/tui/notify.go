package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// fail shows an error and what to do next: in the status line, or in a dialog if it
// does not fit.
func (a *app) fail(err error) tea.Cmd {
	if dialog.Long(fault.Text(err), a.width) {
		a.dialogs = append(a.dialogs, dialog.NewFailure(a.shared, err))
		return nil
	}
	a.message, a.failed = err.Error(), true
	if strings.HasSuffix(a.message, "?") { // it suggests what to do already
		return nil
	}
	if whole := strings.TrimRight(a.message, ".") + ". " + dialog.NextStep(err); !dialog.Long(whole, a.width) {
		a.message = whole
	}
	return nil
}

// maxPause is the longest pause between attempts to reconnect to the event feed.
const maxPause = 15 * time.Second

// againMsg triggers a reconnect of a failed feed.
type againMsg struct{ feed *eventfeed.Feed }

// feedLost shows that the feed failed, and reconnects after a pause. Missed events are
// read then.
func (a *app) feedLost(err error) tea.Cmd {
	a.feedFailures++
	a.message, a.failed = fmt.Sprintf("connection lost, reconnecting: %v", err), true
	lost := a.feed
	return tea.Tick(min(time.Second<<min(a.feedFailures-1, 4), maxPause), func(time.Time) tea.Msg { return againMsg{lost} })
}

// feedRecovered shows that the feed works again.
func (a *app) feedRecovered(m eventfeed.News) {
	if a.feedFailures == 0 || m.Err != nil {
		return
	}
	a.feedFailures = 0
	a.message, a.failed = "Reconnected", false
}

// queueMsg handles the messages of the ask queue. It reports whether msg is one.
func (a *app) queueMsg(msg tea.Msg) (tea.Cmd, bool) {
	waited := a.queue.Len()
	cmd, taken := a.queue.Update(msg)
	if !taken {
		return nil, false
	}
	if a.queue.Len() > waited {
		cmd = tea.Batch(cmd, a.notifier.Notify(a.theme.symbols("waiting for you: "+a.sessionName())))
	}
	return tea.Batch(cmd, a.syncAsks()), true
}

// notify sends a desktop notification for events that need the user's attention.
func (a *app) notify(e pawl.Event) tea.Cmd {
	switch b := e.Body.(type) {
	case pawl.Asked:
		return a.notifier.Notify(a.theme.symbols("waiting for you: " + a.sessionName()))
	case pawl.TurnFinished:
		if b.Reason != pawl.ReasonCanceled {
			return a.notifier.Notify(a.theme.symbols("done: " + a.sessionName()))
		}
	case pawl.Sealed, pawl.Blocked:
		line, _ := humanize.Mission(b)
		return a.notifier.Notify(a.theme.symbols("mission: " + line + ": " + a.sessionName()))
	default: // no notification
	}
	return nil
}

// sessionName returns the title of the session.
func (a *app) sessionName() string {
	if t := a.view.Log.Title(); t != "" {
		return t
	}
	return a.session.Name()
}

// title returns the window title: whether pawl asks or works, and the session's title.
func (a *app) title() string {
	text := "pawl"
	if t := a.view.Log.Title(); t != "" {
		t = sanitize.Line(t)
		text += ": " + t
	}
	switch {
	case a.queue.Len() > 0:
		return "? " + text
	case a.view.Log.Working():
		return "● " + text
	default:
		return text
	}
}
