// Package ui defines what the parts of the terminal UI share.
package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Shared is the state that all parts use. There is one value for the whole program, so
// that a change of theme or keys applies everywhere.
type Shared struct {
	Service pawl.Service
	Context context.Context //nolint:containedctx // the lifetime of the program
	Dir     string          // working directory
	Styles  *theme.Styles
	Keys    *keys.Map
}

// Dialog is a window over the conversation. The top one gets all keys.
type Dialog interface {
	// Update handles a message. It returns nil to close the dialog.
	Update(msg tea.Msg) (Dialog, tea.Cmd)
	// View draws the dialog in at most that many cells.
	View(width, height int) string
}

// Open asks the app to open a dialog.
type Open struct{ Dialog Dialog }

// Failed reports an error. It is shown until the next key.
type Failed struct{ Err error }

// Notice is a message to the user that is not an error.
type Notice struct{ Text string }

// Run returns a command that runs f and reports its error.
func Run(f func() error) tea.Cmd {
	return func() tea.Msg {
		if err := f(); err != nil {
			return Failed{err}
		}
		return nil
	}
}

// Send returns a command that sends a message.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
