// Package ui is what the parts of the screen have in common.
package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Shared is what every part knows. It is one value for the whole program: a theme
// or a key that changes is seen by all.
type Shared struct {
	Service pawl.Service
	Context context.Context //nolint:containedctx // the life of the program: what its requests hang on
	Dir     string          // the directory that is worked in
	Styles  *theme.Styles
	Keys    *keys.Map
}

// Dialog is a window above the conversation. The one on top gets all keys.
type Dialog interface {
	// Update takes a message. A nil Dialog closes it.
	Update(msg tea.Msg) (Dialog, tea.Cmd)
	// View draws it within so many cells; it may be smaller.
	View(width, height int) string
}

// Open asks for a dialog to be shown.
type Open struct{ Dialog Dialog }

// Failed says that something went wrong. It is shown until the next key.
type Failed struct{ Err error }

// Notice says something that is no failure.
type Notice struct{ Text string }

// Do has something done beside the screen, and reports a failure.
func Run(f func() error) tea.Cmd {
	return func() tea.Msg {
		if err := f(); err != nil {
			return Failed{err}
		}
		return nil
	}
}

// Show is a command that sends a message.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
