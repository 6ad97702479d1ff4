// Package uitest is what tests of parts of the screen have in common.
package uitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/keys"
	"github.com/pawl-dev/pawl/internal/tui/theme"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Shared is what every part knows, in a theme, with the usual keys.
func Shared(t testing.TB, look string, svc pawl.Service) *ui.Shared {
	t.Helper()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	th, ok := theme.Find(look, nil)
	if !ok {
		t.Fatalf("no theme %s", look)
	}
	return &ui.Shared{Service: svc, Context: t.Context(), Dir: t.TempDir(), Styles: theme.New(th), Keys: k}
}

// Golden holds a view to testdata/name.golden, and to the room that it had. Escapes
// are made visible.
func Golden(t testing.TB, name, view string, width, height int) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) > height {
		t.Errorf("%s: %d lines in %d", name, len(lines), height)
	}
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Errorf("%s: a line of %d cells in %d: %q", name, n, width, line)
		}
	}
	got := strings.ReplaceAll(view, "\x1b", "␛") + "\n"
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}

// special are the keys that are no letters.
var special = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
}

// Key is a key press by its name.
func Key(name string) tea.KeyPressMsg {
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}
