package keys

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

// TestOwn: the user's keys take the place of the usual ones.
func TestOwn(t *testing.T) {
	t.Parallel()
	m, err := New(map[string][]string{"send": {"Ctrl+Enter", "alt+ctrl+S"}, "themes": {"f5"}, "queue": {}, "copy": {"C"}, "quit": {"ctrl+c"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scope Scope
		key   tea.KeyPressMsg
		want  Action
	}{
		{Editor, tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModCtrl}, Send},
		{Editor, tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl | tea.ModAlt}, Send},
		{Editor, tea.KeyPressMsg{Code: tea.KeyEnter}, ""},
		{Editor, tea.KeyPressMsg{Code: 'q', Mod: tea.ModCtrl}, ""},
		{Global, tea.KeyPressMsg{Code: tea.KeyF5}, Themes},
		{Global, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, Quit},
		{Chat, tea.KeyPressMsg{Code: 'c', Text: "C", Mod: tea.ModShift}, Copy},
		{Chat, tea.KeyPressMsg{Code: 'c', Text: "c"}, ""},
	} {
		if got := m.Action(c.scope, c.key.String()); got != c.want {
			t.Errorf("%s in %s does %q, want %q", c.key, c.scope, got, c.want)
		}
	}
	if got := m.Key(Send); got != "ctrl+enter" {
		t.Errorf("the hint for send is %s", got)
	}
}

// TestFaults: what cannot be says what, and what to do.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		own  map[string][]string
		want string
	}{
		{"an unknown action", map[string][]string{"sendd": {"f5"}}, "keys.sendd: unknown action: did you mean send?"},
		{"no key", map[string][]string{"send": {"contrl+x"}}, `keys.send: unknown key "contrl+x"`},
		{"an empty key", map[string][]string{"send": {""}}, `keys.send: unknown key ""`},
		{"a sequence", map[string][]string{"send": {"\x1b[A"}}, "unknown key"},
		{"shift and a letter", map[string][]string{"copy": {"shift+c"}}, `use "C"`},
		{"one key twice in one place", map[string][]string{"queue": {"enter"}}, "keys.queue: enter is already bound to send: use another key for one of them"},
		{"the same, by the other", map[string][]string{"send": {"ctrl+q"}}, "keys.send: ctrl+q is already bound to queue"},
		{"a key that counts everywhere", map[string][]string{"newline": {"ctrl+p"}}, "keys.newline: ctrl+p is already bound to palette"},
		{"one of the conversation", map[string][]string{"fold": {"ctrl+f"}}, "keys.fold: ctrl+f is already bound to find"},
		{"one that scrolls what is asked", map[string][]string{"approve": {"pgdown"}}, "keys.approve: pgdown is already bound to page_down"},
		{"one that moves it by a line", map[string][]string{"approve": {"down"}}, "keys.approve: down is already bound to down"},
		{"both are the user's", map[string][]string{"fold": {"f7"}, "copy": {"f7"}}, "f7 is already bound to"},
		{"a letter that one writes", map[string][]string{"quit": {"q"}}, "keys.quit: q is needed for typing"},
		{"the blank", map[string][]string{"send": {"space"}}, "is needed for typing"},
		{"a letter in a list that is searched", map[string][]string{"down": {"j"}}, "is needed for typing"},
		{"tab", map[string][]string{"next_mode": {"tab"}}, "tab accepts completions"},
		{"enter permits", map[string][]string{"approve": {"enter"}}, "must not allow anything"},
		{"no way out", map[string][]string{"close": {}}, "needs a key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.own)
			var fault *Fault
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestDefault: no key does two things in a place, and each is called as it is when
// it is pressed.
func TestDefault(t *testing.T) {
	t.Parallel()
	if _, err := New(nil); err != nil {
		t.Fatal(err)
	}
	var seen []Action
	for _, b := range Default {
		if slices.Contains(seen, b.Action) {
			t.Errorf("%s is there twice", b.Action)
		}
		seen = append(seen, b.Action)
		if got, err := named(b, b.Keys); err != nil || !cmp.Equal(b.Keys, got) {
			t.Errorf("%s: %v, %v", b.Action, got, err)
		}
	}
}

// TestActive: in each place are the keys that count there, and no others.
func TestActive(t *testing.T) {
	t.Parallel()
	m, err := New(map[string][]string{"interrupt": {"esc", "ctrl+x"}, "sessions": {}})
	if err != nil {
		t.Fatal(err)
	}
	has := func(place Scope, a Action) string {
		for _, b := range m.Active(place) {
			if b.Action == a {
				return strings.Join(b.Keys, " ")
			}
		}
		return ""
	}
	for _, c := range []struct {
		place Scope
		of    Action
		want  string
	}{
		{Editor, Send, "enter"}, {Editor, Palette, "ctrl+p"}, {Editor, Interrupt, "esc ctrl+x"}, {Editor, Fold, ""}, {Editor, Approve, ""}, {Editor, Sessions, ""},
		{Chat, Fold, "enter space"}, {Chat, LeaveChat, "esc"}, {Chat, Interrupt, "ctrl+x"}, {Chat, Send, ""}, {Chat, PageUp, "pgup"},
		{Dialog, Choose, "enter"}, {Dialog, Help, "f1 ctrl+_"}, {Dialog, PageUp, ""}, {Dialog, Quit, ""},
		{Ask, Approve, "y"}, {Ask, PageUp, "pgup"}, {Ask, Quit, "ctrl+d"}, {Ask, Palette, ""}, {Ask, Interrupt, ""},
	} {
		if got := has(c.place, c.of); got != c.want {
			t.Errorf("%s in %s has %q, want %q", c.of, c.place, got, c.want)
		}
	}
}

var update = flag.Bool("update", false, "write the table of keys")

const guide = "../../../../docs/reference/terminal.md"

// TestGuide checks that docs/reference/terminal.md lists every action with its keys.
func TestGuide(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| action | scope | keys | description |\n|---|---|---|---|\n")
	for _, d := range Default {
		var names []string
		for _, k := range d.Keys {
			names = append(names, "`"+k+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Action, d.Scope, strings.Join(names, ", "), d.Help)
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)(<!-- keys: [^\n]*\n)(.*?)(<!-- end of keys -->)`)
	m := table.FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("the guide has no place for the table")
	}
	if *update {
		whole := strings.Replace(string(text), m[0], m[1]+b.String()+m[3], 1)
		if err := os.WriteFile(guide, []byte(whole), 0o644); err != nil { //nolint:gosec // it is published
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(b.String(), m[2]); diff != "" {
		t.Errorf("'go test ./internal/frontend/tui/keys -update' writes it anew: %s", diff)
	}
}
