package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/rewind"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// doubleEscape is how long a second press of the interrupt key opens the rewind
// dialog.
const doubleEscape = 500 * time.Millisecond

// escapeState tracks the interrupt key while no turn is running: pressed twice, it
// opens the rewind dialog.
type escapeState struct {
	armed      bool
	generation int
}

// disarmMsg ends the time for the second press.
type disarmMsg struct{ round int }

// splitAltEscape returns the plain escape key for alt+escape: terminals report two
// quick presses as that. It reports whether it was.
func splitAltEscape(k tea.KeyPressMsg) (tea.KeyPressMsg, bool) {
	if k.Mod != tea.ModAlt || k.Code != tea.KeyEscape {
		return k, false
	}
	k.Mod = 0
	return k, true
}

// rewindKey handles the interrupt key while no turn is running.
func (a *app) rewindKey(armed bool) tea.Cmd {
	if a.session.ID == "" || !a.editor.Empty() {
		return nil
	}
	if armed {
		return a.rewind(rewind.Back)
	}
	a.escape.armed = true
	a.escape.generation++
	a.message, a.failed = a.escapeHint(), false
	msg := disarmMsg{a.escape.generation}
	return tea.Tick(doubleEscape, func(time.Time) tea.Msg { return msg })
}

func (a *app) escapeHint() string {
	return "Press " + a.shared.Keys.Key(keys.Interrupt) + " again to rewind"
}

// disarm ends the time for the second press.
func (a *app) disarm(m disarmMsg) {
	if m.round != a.escape.generation || !a.escape.armed {
		return
	}
	a.escape.armed = false
	if a.message == a.escapeHint() {
		a.message = ""
	}
}

// rewind opens the dialog for undo, redo, rewind or fork.
func (a *app) rewind(k rewind.Kind) tea.Cmd {
	switch {
	case a.session.ID == "":
		return ui.Send(ui.Failed{Err: errNoSession})
	case a.view.Log.Working() && k != rewind.Fork:
		return ui.Send(ui.Failed{Err: &pawl.BusyError{Session: a.session.ID}})
	}
	return ui.Send(ui.Open{Dialog: rewind.New(a.shared, a.session.ID, k)})
}

// rewound handles the result of the rewind dialog: it closes the dialog, restores the
// prompt and shows a notice.
func (a *app) rewound(m rewind.Ended) tea.Cmd {
	at := slices.Index(a.dialogs, ui.Dialog(m.Dialog))
	if m.Err != nil {
		if at < 0 {
			return a.fail(m.Err)
		}
		return m.Dialog.Fail(m.Err)
	}
	var cmd tea.Cmd
	if at >= 0 {
		a.dialogs = slices.Delete(a.dialogs, at, at+1)
		cmd = a.topChanged()
	}
	a.message, a.failed = m.Notice(), false
	switch {
	case m.Forked:
		a.restore = restoredPrompt{m.Session, m.Prompt, m.Notice()}
		return tea.Batch(cmd, a.open(m.Session))
	case m.Session == a.session.ID && len(m.Prompt) > 0:
		a.restorePrompt(m.Prompt)
	case m.Plan.Redo != 0 && a.editor.Text() == m.Plan.Prompt.Text():
		a.editor.SetText("") // the prompt is part of the conversation again
	}
	return cmd
}

// restoredPrompt is put in the editor once its session is shown.
type restoredPrompt struct {
	session pawl.SessionID
	parts   pawl.Parts
	notice  string
}

// restorePrompt puts the text of an undone prompt in the editor. Files must be
// attached again.
func (a *app) restorePrompt(parts pawl.Parts) {
	if !a.editor.Restore(parts) {
		a.message += " · your draft is unchanged"
		return
	}
	files := 0
	for _, p := range parts {
		if _, ok := p.(pawl.File); ok {
			files++
		}
	}
	if files > 0 {
		a.message += fmt.Sprintf(" · attach %s again", humanize.Plural(files, "file"))
	}
}

// sessionShown restores the prompt for a session that is now shown.
func (a *app) sessionShown(id pawl.SessionID) {
	r := a.restore
	if r.session != id || id == "" {
		return
	}
	a.restore = restoredPrompt{}
	a.message, a.failed = r.notice, false
	if len(r.parts) > 0 {
		a.restorePrompt(r.parts)
	}
}
