package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Prompt is a dialog that opens by itself. It must not take keys that the user types for the composer;
// see [Route].
type Prompt interface {
	ui.Dialog
	// Shown is called when the dialog comes to the top. It starts the lock.
	Shown() tea.Cmd
	// Typing reports whether a text field has the focus, so that keys are text.
	Typing() bool
	// uses reports whether a character does something in the dialog.
	uses(key string) bool
	// keyboard returns the lock that decides who gets the keys.
	keyboard() *Lock
}

// Target is who gets a key press.
type Target int

// The targets.
const (
	ToComposer Target = iota
	ToPrompt
	ToNobody // the key gave the prompt the keyboard
)

// Route decides who gets a key while a prompt is open. The prompt gets keys only after a pause without
// typing, or after Tab. While the composer has a draft, the pause is not enough for characters and
// Enter, which may continue the draft: the user chooses the prompt with Tab or an arrow key. A
// character that the prompt does not use returns the keyboard to the composer. The command must be
// run.
func Route(p Prompt, m *keys.Map, k tea.KeyPressMsg) (Target, tea.Cmd) {
	l, name := p.keyboard(), k.String()
	_, failure := p.(*Failure)
	switch {
	case failure && m.Action(keys.Dialog, name) == keys.Close:
		return ToPrompt, nil
	case name == "tab" && !l.focused():
		l.engage()
		return ToNobody, nil
	case !l.Open() || !l.drawn:
		return ToComposer, l.touch()
	case p.Typing():
		return ToPrompt, nil
	case !l.focused() && !moves(m, name):
		return ToComposer, l.touch()
	case k.Text != "" && !p.uses(name):
		return ToComposer, l.touch()
	}
	l.engage()
	return ToPrompt, nil
}

// Focused reports whether a prompt has the keyboard.
func Focused(p Prompt) bool { return p.keyboard().focused() }

// SetDraft tells a prompt whether the composer has a draft.
func SetDraft(p Prompt, draft bool) { p.keyboard().draft = draft }

// Touch records that the user did something in the composer: the pause begins again.
func Touch(p Prompt) tea.Cmd { return p.keyboard().touch() }

// moves reports whether a key moves in a prompt or closes it, and is not needed to continue a draft.
func moves(m *keys.Map, name string) bool {
	switch m.Action(keys.Editor, name) {
	case "", keys.Previous, keys.Next:
	default:
		return false
	}
	switch m.Action(keys.Dialog, name) {
	case keys.Up, keys.Down, keys.Close:
		return true
	default:
	}
	switch m.Action(keys.Global, name) {
	case keys.PageUp, keys.PageDown, keys.ScrollUp, keys.ScrollDown, keys.Top, keys.Bottom:
		return true
	default:
		return false
	}
}

// waitingHints are the hints of a prompt that does not have the keyboard.
func waitingHints(s *ui.Shared, width int) []string {
	return Hints(s.Styles, width, true, Hint{"tab", "answer"})
}
