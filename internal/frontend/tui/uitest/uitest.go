// Package uitest has helpers for the tests of the terminal UI.
package uitest

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Shared returns a ui.Shared with the default keys and the named theme.
func Shared(t testing.TB, svc pawl.Service, themeName string) *ui.Shared {
	t.Helper()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	th, ok := theme.Find(themeName, nil)
	if !ok {
		t.Fatalf("there is no theme %q", themeName)
	}
	return &ui.Shared{Service: svc, Context: t.Context(), Dir: t.TempDir(), Styles: theme.New(th), Keys: k}
}

// Golden compares a screen with a file in testdata, without trailing spaces and with
// visible escapes. No line may be wider than width.
func Golden(t *testing.T, name, got string, width int) {
	t.Helper()
	lines := strings.Split(got, "\n")
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > width {
			t.Errorf("%s: line %d has %d cells of %d: %q", name, i+1, n, width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	Same(t, filepath.Join("testdata", name+".golden"), strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "␛"))
}

// Same compares a text with a file, which -update writes.
func Same(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
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

// Key returns a key by its Bubble Tea name; any other string is typed text.
func Key(name string) tea.KeyPressMsg {
	if k, ok := special[name]; ok {
		return k
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Text: name, Code: []rune(name)[0]}
}

var special = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "backspace": {Code: tea.KeyBackspace},
}

// Run runs a command and those that result from its messages, and returns all messages
// in order. A closed dialog gets none.
func Run(d ui.Dialog, cmd tea.Cmd) (ui.Dialog, []tea.Msg) {
	var all []tea.Msg
	for todo := []tea.Cmd{cmd}; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		if next == nil {
			continue
		}
		msg := next()
		if many := Batched(msg); many != nil {
			todo = append(many, todo...)
			continue
		}
		if msg == nil {
			continue
		}
		all = append(all, msg)
		if d != nil {
			var more tea.Cmd
			d, more = d.Update(msg)
			todo = append(todo, more)
		}
	}
	return d, all
}

// Batched returns the commands of a batch or a sequence, or nil.
func Batched(msg tea.Msg) []tea.Cmd {
	v := reflect.ValueOf(msg)
	if msg == nil || v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil
	}
	cmds := make([]tea.Cmd, 0, v.Len())
	for i := range v.Len() {
		cmds = append(cmds, v.Index(i).Interface().(tea.Cmd))
	}
	return cmds
}

// Press sends keys to a dialog and runs the resulting commands.
func Press(d ui.Dialog, names ...string) (ui.Dialog, []tea.Msg) {
	var all []tea.Msg
	for _, name := range names {
		if d == nil {
			break
		}
		next, cmd := d.Update(Key(name))
		var msgs []tea.Msg
		d, msgs = Run(next, cmd)
		all = append(all, msgs...)
	}
	return d, all
}
