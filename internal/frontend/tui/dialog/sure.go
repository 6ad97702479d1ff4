package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Sure asks for confirmation before something that cannot be undone.
type Sure struct {
	Title string
	Text  string // what would be lost
	Yes   string // label of the confirming key
	Do    tea.Cmd

	shared *ui.Shared
	lock   *Lock
	pane   Pane
}

var _ ui.Dialog = (*Sure)(nil)

// NewSure returns the dialog; do runs on confirmation.
func NewSure(s *ui.Shared, title, text, yes string, do tea.Cmd) *Sure {
	return &Sure{Title: title, Text: text, Yes: yes, Do: do, shared: s, lock: NewLock()}
}

// Shown starts the lock.
func (s *Sure) Shown() tea.Cmd { return s.lock.Shut() }

// Update handles a message.
func (s *Sure) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case settledMsg:
		return s, s.lock.settled(m)
	case tea.MouseWheelMsg:
		s.pane.Wheel(m)
	case tea.KeyPressMsg:
		if !s.lock.Takes() || s.pane.Key(s.shared.Keys, m.String(), true) {
			return s, nil
		}
		switch s.shared.Keys.Action(keys.Ask, m.String()) {
		case keys.Approve:
			return nil, s.Do
		case keys.Deny:
			return nil, nil
		default:
		}
	}
	return s, nil
}

// View draws the dialog.
func (s *Sure) View(width, height int) string {
	s.lock.Drawn()
	styles, k := s.shared.Styles, s.shared.Keys
	f := Frame{Styles: styles, Tone: styles.Warn, Title: s.Title, Width: width}
	s.pane.Fit(f.Inner(), styles, func(width int) []string { return wrapWords(sanitize.Marked(strings.TrimSpace(s.Text)), width) })
	foot := Hints(styles, f.Inner(), s.lock.Open(), Hint{k.Key(keys.Approve), s.Yes}, Hint{k.Key(keys.Deny), "cancel"})
	lines := s.pane.View(height - 4 - len(foot))
	return f.Render(append(append(lines[:len(lines):len(lines)], s.pane.More(s.shared)), foot...))
}
