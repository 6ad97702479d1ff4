package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/complete"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// run does a command of the terminal.
func (a *app) run(m complete.Run) tea.Cmd {
	switch m.Name {
	case "quit":
		return tea.Quit
	default:
		return ui.Show(ui.Failed{Err: fmt.Errorf("/%s cannot be done here yet: %w", m.Name, pawl.ErrUnavailable)})
	}
}
