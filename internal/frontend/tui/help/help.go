// Package help lists the current key bindings and the commands.
package help

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// ID is the picker's ID.
const ID = "help"

// scopeNames are the headings of the scopes.
var scopeNames = map[keys.Scope]string{
	keys.Editor: "in the editor", keys.Chat: "in the conversation", keys.Dialog: "in dialogs", keys.Ask: "when Pawl asks", keys.Global: "everywhere",
}

// promptSymbols describes the special characters and fixed keys of the prompt.
var promptSymbols = []picker.Item{
	{Title: "Mention a file, an agent or a resource", Detail: "@"},
	{Title: "Run a command of Pawl or of this project", Detail: "/"},
	{Title: "Run a shell command", Detail: "!"},
	{Title: "Accept a completion; expand pasted text", Detail: "tab"},
	{Title: "Copy the selection, or clear the prompt", Detail: "ctrl+c"},
}

// ForActions returns the help of a dialog with these actions.
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

// New returns the help of a scope.
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

// commands returns the items of the command palette.
func commands(s *ui.Shared, folder pawl.Project) []picker.Item {
	items := completion.Items(s, folder)
	for i := range items {
		items[i].ID, items[i].Group = "/"+items[i].ID, "commands"
	}
	return items
}
