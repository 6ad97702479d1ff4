package onboarding

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// logout lists the stored keys, and deletes the chosen one.
type logout struct {
	accounts Accounts
	shared   *ui.Shared
	list     *picker.Picker
}

// Logout opens the list of stored keys, or deletes the key of a provider if one is named.
func Logout(s *ui.Shared, accounts Accounts, provider string) tea.Cmd {
	if accounts == nil {
		accounts = serverModels{s.Service}
	}
	if provider != "" {
		return forget(s, accounts, provider)
	}
	return func() tea.Msg {
		stored, err := accounts.Stored(s.Context)
		if err != nil {
			return ui.Failed{Err: err}
		}
		if len(stored) == 0 {
			return ui.Notice{Text: "No API keys are stored"}
		}
		var items []picker.Item
		for _, p := range stored {
			items = append(items, picker.Item{ID: p.Provider, Title: p.Name, Detail: p.Detail})
		}
		return ui.Open{Dialog: &logout{accounts, s, picker.New(s, "Delete a stored key", items, picker.Options{ID: logoutList})}}
	}
}

// forget deletes the stored key of a provider.
func forget(s *ui.Shared, accounts Accounts, provider string) tea.Cmd {
	return func() tea.Msg {
		text, err := accounts.Logout(s.Context, provider)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return ui.Notice{Text: text}
	}
}

// Update handles a message.
func (l *logout) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case picker.Chosen:
		return nil, forget(l.shared, l.accounts, m.ID)
	case picker.Closed:
		return nil, nil
	}
	_, cmd := l.list.Update(msg)
	return l, cmd
}

// View draws the list.
func (l *logout) View(width, height int) string { return l.list.View(width, height) }
