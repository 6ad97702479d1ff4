package dialog

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
)

// The actions that the help of each dialog lists.

// moving are the actions that scroll a text.
var moving = []keys.Action{keys.PageUp, keys.PageDown, keys.ScrollUp, keys.ScrollDown, keys.Top, keys.Bottom}

// byLine are the actions that scroll a text by lines, if nothing else is selected with
// them.
var byLine = []keys.Action{keys.Up, keys.Down}

// ends are the actions of every ask.
var ends = []keys.Action{keys.Quit, keys.Help}

// choosing are the actions of a list of choices.
var choosing = []keys.Action{keys.Up, keys.Down, keys.Choose, keys.Close}

// Actions returns the actions of a permission prompt.
func (p *permission) Actions() []keys.Action {
	list := slices.Clone(choosing)
	if len(p.offer) > 0 {
		list = append(list, keys.EditRule)
	}
	return slices.Concat(list, []keys.Action{keys.Details}, moving, ends)
}

// Actions returns the actions of a confirmation.
func (c *confirm) Actions() []keys.Action { return slices.Concat(choosing, moving, ends) }

// Actions returns the actions of a form.
func (f *form) Actions() []keys.Action {
	return slices.Concat([]keys.Action{keys.Up, keys.Down, keys.Choose, keys.Message, keys.Close}, moving, ends)
}

// Actions returns the actions of the trust dialog.
func (t *Trust) Actions() []keys.Action {
	return slices.Concat(choosing, moving, []keys.Action{keys.Help})
}

// Actions returns the actions of an error dialog.
func (f *Failure) Actions() []keys.Action {
	return slices.Concat([]keys.Action{keys.Close}, byLine, moving, []keys.Action{keys.Help})
}
