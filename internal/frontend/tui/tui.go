// Package tui is the terminal: a front end that knows pawl.Service and nothing of
// what is behind it.
//
// One model per part of the screen: app puts them together, chat has the
// conversation, editor the prompt, dialog what is asked. Each takes messages and
// draws itself; what takes time is a command. All that a stranger wrote is made
// safe where it is rendered, by package plain.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Config says what to show.
type Config struct {
	Service     pawl.Service
	Dir         string
	Session     pawl.SessionID // "" means a new one, made with the first prompt
	Settings    pawl.Settings  // of prompts, until the person chooses others
	Theme       string         // "" means by the terminal's background
	Themes      []theme.Theme  // the person's own
	Keys        map[string][]string
	NoMouse     bool               // the mouse is left to the terminal
	History     history.Store      // of prompts; nil keeps none
	Onboarding  onboarding.Options // for who has chosen nothing yet; Chosen is set by Run
	Notify      notify.Mode
	Export      Export              // nil means that sessions cannot be exported here
	Permissions *permissions.Source // nil means that they are another machine's

	SaveTheme func(name string) error // keeps the choice for the next start; nil keeps none

	In  io.Reader // nil means standard input
	Out io.Writer // nil means standard output
	Env []string  // nil means the process's
}

// Run shows the terminal until the person ends it.
func Run(ctx context.Context, c Config) error {
	k, err := keys.New(c.Keys)
	if err != nil {
		return fmt.Errorf("%w: %w", err, pawl.ErrInvalid)
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
