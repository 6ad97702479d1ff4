package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// resume goes on with a session that a crash or kill left with work. One that
// another process works on needs no help.
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
