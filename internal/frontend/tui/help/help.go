// Package help lists what can be done in the place where the person is: the keys as
// they are now, and the commands.
package help

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// ID is that of the list.
const ID = "help"

// places are what the places are called.
var scopeNames = map[keys.Scope]string{
	keys.Editor: "while you write", keys.Chat: "in the conversation", keys.Dialog: "in a window", keys.Ask: "while pawl asks", keys.Global: "everywhere",
}

// signs are what a prompt is written with, beside the keys that can be changed.
var promptSymbols = []picker.Item{
	{Title: "name a file, an agent or a resource", Detail: "@"},
	{Title: "a command of pawl or of this folder", Detail: "/"},
	{Title: "a command line of your own", Detail: "!"},
	{Title: "take what is offered; open what was pasted", Detail: "tab"},
	{Title: "copy what is selected, or take out what is written", Detail: "ctrl+c"},
}

// Of returns the list for a window that says itself what counts in it.
func ForActions(s *ui.Shared, actions []keys.Action) *picker.Picker {
	return list(s, toItems(s.Keys.Of(actions)))
}

func list(s *ui.Shared, items []picker.Item) *picker.Picker {
	return picker.New(s, "Help", items, picker.Options{ID: ID})
}

func toItems(bindings []keys.Binding) []picker.Item {
	var items []picker.Item
	for _, b := range bindings {
		items = append(items, picker.Item{ID: string(b.Action), Title: b.Help, Detail: strings.Join(b.Keys, "  "), Group: scopeNames[b.Scope]})
	}
	return items
}

// New returns the list for a place.
func New(s *ui.Shared, scope keys.Scope, folder pawl.Project) *picker.Picker {
	items := toItems(s.Keys.Active(scope))
	if scope == keys.Editor {
		for _, it := range promptSymbols {
			it.ID, it.Group = it.Detail, "in a prompt"
			items = append(items, it)
		}
	}
	if scope == keys.Editor || scope == keys.Chat {
		items = append(items, commands(s, folder)...)
	}
	return list(s, items)
}

// commands are those of the palette, by name.
func commands(s *ui.Shared, folder pawl.Project) []picker.Item {
	items := completion.Items(s, folder)
	for i := range items {
		items[i].ID, items[i].Group = "/"+items[i].ID, "commands"
	}
	return items
}
