package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Setup lets the user connect to a model, before there is a service. It stores nothing but what
// the user confirms. The result is zero if the user leaves.
func Setup(ctx context.Context, c Config) (onboarding.Chosen, error) {
	k, err := keys.New(c.Keys)
	if err != nil {
		return onboarding.Chosen{}, fault.New(pawl.ErrInvalid, "%w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &firstStart{theme: newThemeState(c), shared: &ui.Shared{Context: ctx, Dir: c.Dir, Keys: k}}
	s.shared.Styles = theme.New(s.theme.current())
	c.Onboarding.Title = "Welcome to Pawl. Choose a model"
	s.dialog = onboarding.New(s.shared, c.Onboarding, "")
	if _, err = tea.NewProgram(s, tea.WithContext(ctx)).Run(); errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	if s.failed != nil && s.chosen.Model != "" {
		s.chosen.Note = fault.Text(s.failed)
	}
	return s.chosen, err
}

// firstStart is the program of Setup: a single dialog.
type firstStart struct {
	shared        *ui.Shared
	theme         themeState
	dialog        ui.Dialog
	chosen        onboarding.Chosen
	failed        error // the last error
	width, height int
}

// Init opens the dialog.
func (s *firstStart) Init() tea.Cmd {
	return tea.Batch(s.theme.requestBackground(), s.dialog.(interface{ Shown() tea.Cmd }).Shown())
}

// Update handles a message.
func (s *firstStart) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
	case tea.BackgroundColorMsg, tea.ColorProfileMsg:
		s.theme.learn(m)
		s.shared.Styles = theme.New(s.theme.current())
	case onboarding.Chosen:
		s.chosen = m
		return s, tea.Quit
	case onboarding.Left:
		return s, tea.Quit
	case ui.Failed:
		s.failed = m.Err
		return s, nil
	case tea.KeyPressMsg:
		if m.String() == "ctrl+c" || s.shared.Keys.Action(keys.Global, m.String()) == keys.Quit {
			return s, tea.Quit
		}
	}
	next, cmd := s.dialog.Update(msg)
	if next != nil {
		s.dialog = next
	}
	return s, cmd
}

// View draws the dialog, and the last error below it.
func (s *firstStart) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if s.theme.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if screen := s.shared.Styles.Theme.ScreenOn(s.theme.background); screen != nil {
		v.BackgroundColor, v.ForegroundColor = screen, s.shared.Styles.Text.GetForeground()
	}
	v.WindowTitle = "pawl"
	if s.width < minWidth || s.height < minHeight {
		return v
	}
	panel := s.dialog.View(s.width, s.height)
	v.Content = s.theme.symbols(fit(lipgloss.Place(s.width, s.height, lipgloss.Center, lipgloss.Center, panel), s.height))
	return v
}
