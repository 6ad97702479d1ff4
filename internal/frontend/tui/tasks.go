package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/subagents"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// showTasks opens the list of subagents and jobs.
func (a *app) showTasks() tea.Cmd {
	if a.session.ID == "" {
		return ui.Send(ui.Failed{Err: errNoSession})
	}
	return ui.Send(ui.Open{Dialog: subagents.NewDialog(a.shared, a.tasks)})
}

// updateDialogs passes a message to all dialogs, including covered ones, which keep
// following their sessions.
func (a *app) updateDialogs(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i, d := range a.dialogs {
		next, cmd := d.Update(msg)
		a.dialogs[i] = next
		cmds = append(cmds, cmd)
	}
	a.dialogs = slices.DeleteFunc(a.dialogs, func(d ui.Dialog) bool { return d == nil })
	return tea.Batch(cmds...)
}
