package dialog

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// TestFieldIsBounded: a field takes maxField characters, shows maxFieldRows rows and
// keeps the cursor in sight.
func TestFieldIsBounded(t *testing.T) {
	t.Parallel()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := newField(&ui.Shared{Context: t.Context(), Styles: theme.New(theme.Builtin[0]), Keys: k}, "label", "")
	f.update(tea.PasteMsg{Content: strings.Repeat("0123456789 ", maxField)})
	f.update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	if n := f.buf.Len(); n != maxField {
		t.Errorf("it has %d characters", n)
	}
	for _, key := range []tea.KeyPressMsg{{}, {Code: tea.KeyUp}, {Code: 'u', Mod: tea.ModCtrl}} {
		f.update(key)
		lines := f.view(30)
		if len(lines) > 1+maxFieldRows {
			t.Errorf("%s: %d lines", key, len(lines))
		}
		if !strings.Contains(strings.Join(lines, ""), "\x1b[7m") {
			t.Errorf("%s: the cursor is not shown", key)
		}
		for _, line := range lines {
			if n := ansi.StringWidth(line); n > 30 {
				t.Errorf("%s: a line of %d cells: %q", key, n, line)
			}
		}
	}
}
