package dialog

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// TestSure: nothing is done by a key that came before the question was seen, by
// another key than yes, or twice.
func TestSure(t *testing.T) {
	t.Parallel()
	type done struct{}
	for _, c := range []struct {
		name       string
		key        string
		early      bool
		open, does bool
	}{
		{"yes", "y", false, false, true},
		{"yes, too early", "y", true, true, false},
		{"no, too early", "n", true, true, false},
		{"no", "n", false, false, false},
		{"left", "esc", false, false, false},
		{"enter is no answer", "enter", false, true, false},
		{"a letter is no answer", "x", false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSure(shared(t, "plain", nil), "Delete it?", "All of\x1b[2J it.", "delete it", func() tea.Msg { return done{} })
			s.Shown()
			golden(t, "sure", ansi.Strip(s.View(60, 20)))
			if !c.early {
				settle(s)
			}
			d, cmd := s.Update(key(c.key))
			if (d != nil) != c.open || (cmd != nil) != c.does {
				t.Errorf("open %v, does %v", d != nil, cmd != nil)
			}
		})
	}
}
