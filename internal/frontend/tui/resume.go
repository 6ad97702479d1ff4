package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// resume continues a session that was interrupted by a crash. It does nothing if
// another process works on it.
func (a *app) resume(s pawl.Session) tea.Cmd {
	if s.State() == pawl.StateIdle {
		return nil
	}
	svc, ctx := a.shared.Service, a.shared.Context
	return ui.Run(func() error {
		if err := svc.Resume(ctx, s.ID); !errors.Is(err, pawl.ErrBusy) {
			return err
		}
		return nil
	})
}
