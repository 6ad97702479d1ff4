// Package tui is the full-screen terminal front end. It uses only pawl.Service.
//
// Each part of the screen is a Bubble Tea model: app combines them, chat shows the
// conversation, editor the prompt, dialog the asks. Slow work runs in commands.
// Untrusted text is sanitized where it is rendered, with package sanitize.
package tui

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Config configures Run. Service is required.
type Config struct {
	Service     pawl.Service
	Dir         string
	Session     pawl.SessionID // "" starts a new session with the first prompt
	Prompt      string         // sent at the start; "" means none
	Notice      string         // shown at the start until the next key; "" means none
	Settings    pawl.Settings  // of the next prompts, until the user changes them
	Theme       string         // "" chooses by the terminal's background
	Themes      []theme.Theme  // the user's own
	Keys        map[string][]string
	NoMouse     bool               // leave the mouse to the terminal
	History     history.Store      // prompt history; nil keeps none
	Onboarding  onboarding.Options // used if no model is configured; Run sets Chosen
	Notify      notify.Mode
	Export      Export              // nil means that sessions cannot be exported here
	Permissions *permissions.Source // nil if the service runs on another host
	AddDir      AddDir              // nil if the service runs on another host
	Isolated    bool                // the sessions work on a copy-on-write view of the project
	Isolate     Isolate             // nil if the service runs on another host

	SaveTheme func(name string) error // saves the chosen theme; nil does not

	In  io.Reader // nil means standard input
	Out io.Writer // nil means standard output
	Env []string  // nil means the process's environment
}

// Run shows the terminal UI until the user quits.
func Run(ctx context.Context, c Config) error {
	k, err := keys.New(c.Keys)
	if err != nil {
		return fault.New(pawl.ErrInvalid, "%w", err)
	}
	if c.Theme != "" && c.Theme != theme.Auto {
		if _, err := theme.Lookup(c.Theme, c.Themes); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newApp(&ui.Shared{Service: c.Service, Context: ctx, Dir: c.Dir, Styles: theme.New(newThemeState(c).current()), Keys: k}, c)
	options := []tea.ProgramOption{tea.WithContext(ctx)}
	if c.In != nil {
		options = append(options, tea.WithInput(c.In))
	}
	if c.Out != nil {
		options = append(options, tea.WithOutput(c.Out))
	}
	if c.Env != nil {
		options = append(options, tea.WithEnvironment(c.Env))
	}
	a.program = tea.NewProgram(a, options...)
	_, err = a.program.Run()
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	return err
}
