package dialog

import (
	"encoding/json"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// TestActions: a window names the actions that do something in it, and no others.
func TestActions(t *testing.T) {
	t.Parallel()
	rule := []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"ls","decision":"allow"}`)}
	for _, c := range []struct {
		name      string
		ask       pawl.Ask
		has, lack []keys.Action
	}{
		{"a permission", pawl.Ask{Kind: pawl.AskPermission, Offer: rule}, []keys.Action{keys.Up, keys.Choose, keys.Close, keys.EditRule, keys.Details}, []keys.Action{keys.Approve, keys.Deny}},
		{"one without a rule", pawl.Ask{Kind: pawl.AskPermission}, []keys.Action{keys.Choose, keys.Close, keys.Details}, []keys.Action{keys.EditRule}},
		{"a question whether to go on", pawl.Ask{Kind: pawl.AskLoop}, []keys.Action{keys.Choose, keys.Close}, []keys.Action{keys.Approve, keys.EditRule}},
		{"a form", pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Question: "x"}}}, []keys.Action{keys.Up, keys.Down, keys.Choose, keys.Close, keys.Message}, []keys.Action{keys.Approve, keys.EditRule}},
	} {
		k, err := keys.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		d := New(&ui.Shared{Context: t.Context(), Styles: theme.New(theme.Builtin[0]), Keys: k}, Asking{Ask: c.ask}, func() int { return 1 })
		got := d.(interface{ Actions() []keys.Action }).Actions()
		for _, a := range append(c.has, keys.PageDown, keys.Quit, keys.Help) {
			if !slices.Contains(got, a) {
				t.Errorf("%s lacks %s", c.name, a)
			}
		}
		for _, a := range c.lack {
			if slices.Contains(got, a) {
				t.Errorf("%s has %s", c.name, a)
			}
		}
	}
}

// TestFieldKeys: who has changed the keys of a prompt has them in a window, too.
func TestFieldKeys(t *testing.T) {
	t.Parallel()
	k, err := keys.New(map[string][]string{"send": {"ctrl+enter"}, "newline": {"enter"}})
	if err != nil {
		t.Fatal(err)
	}
	f := newField(&ui.Shared{Context: t.Context(), Styles: theme.New(theme.Builtin[0]), Keys: k}, "x", "a")
	if end, _ := f.update(tea.KeyPressMsg{Code: tea.KeyEnter}); end != fieldOpen || f.buf.String() != "a\n" {
		t.Errorf("%v, %q", end, f.buf.String())
	}
	if end, _ := f.update(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModCtrl}); end != fieldDone {
		t.Error("it is not sent")
	}
}
