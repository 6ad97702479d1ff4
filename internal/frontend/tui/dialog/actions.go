package dialog

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
)

// The actions that count in a window, for help. Each window has those that move its
// text.

// moving are those that move a text.
var moving = []keys.Action{keys.PageUp, keys.PageDown, keys.ScrollUp, keys.ScrollDown, keys.Top, keys.Bottom}

// byLine are those of a text that nothing else is chosen in.
var byLine = []keys.Action{keys.Up, keys.Down}

// ends are those of every window of an ask.
var ends = []keys.Action{keys.Quit, keys.Help}

// Actions are those of a permission.
func (p *permission) Actions() []keys.Action {
	list := []keys.Action{keys.Approve}
	if len(p.offer) > 0 {
		list = append(list, keys.Always, keys.EditRule)
	}
	return slices.Concat(list, []keys.Action{keys.Decline, keys.Word}, byLine, moving, ends)
}

// Actions are those of a question whether to go on.
func (c *confirm) Actions() []keys.Action {
	return slices.Concat([]keys.Action{keys.Approve, keys.Word, keys.Decline}, byLine, moving, ends)
}

// Actions are those of a form.
func (f *form) Actions() []keys.Action {
	return slices.Concat([]keys.Action{keys.Up, keys.Down, keys.Choose, keys.Word, keys.Close}, moving, ends)
}

// Actions are those of the question whether a directory is trusted.
func (t *Trust) Actions() []keys.Action {
	return slices.Concat([]keys.Action{keys.Approve, keys.Decline}, byLine, moving, []keys.Action{keys.Help})
}

// Actions are those of a failure.
func (f *Failure) Actions() []keys.Action {
	return slices.Concat([]keys.Action{keys.Close}, byLine, moving, []keys.Action{keys.Help})
}
