package dialog

import (
	"cmp"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// nextSteps says what to do about an error, by its code.
var nextSteps = map[pawl.Code]string{
	pawl.CodeInvalid:     "Change the request and try again.",
	pawl.CodeNotFound:    "It may have been deleted. Look for it in the session list.",
	pawl.CodeConflict:    "Check the current state and try again.",
	pawl.CodeBusy:        "Wait until the turn ends, or interrupt it.",
	pawl.CodeDenied:      "Run `pawl permissions list` to see the rules, or choose another permission mode.",
	pawl.CodeUnavailable: "Check the server and the network, and try again.",
	pawl.CodeInternal:    "Run `pawl doctor` to find the problem. The session is saved.",
}

// NextStep says what to do about an error: its hint or, if it has none, what its code suggests.
func NextStep(err error) string { return cmp.Or(fault.HintOf(err), nextSteps[pawl.CodeOf(err)]) }

// Long reports whether a text needs more than one line of the width.
func Long(text string, width int) bool {
	text = strings.TrimSpace(text)
	return strings.Contains(text, "\n") || ansi.StringWidth(sanitize.Line(text)) > width
}

// Failure shows an error and what to do next.
type Failure struct {
	shared *ui.Shared
	err    error
	lock   *Lock
	pane   Pane
}

// NewFailure returns the dialog of an error.
func NewFailure(s *ui.Shared, err error) *Failure {
	if err == nil {
		err = errors.New("unknown error")
	}
	return &Failure{shared: s, err: err, lock: NewLock()}
}

// Shown starts the lock.
func (f *Failure) Shown() tea.Cmd { return f.lock.Shut() }

// Typing reports that there is no text field.
func (f *Failure) Typing() bool { return false }

func (f *Failure) keyboard() *Lock { return f.lock }

// uses reports whether a character does something in the dialog.
func (f *Failure) uses(key string) bool { return key == "space" }

// Update handles a message.
func (f *Failure) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		f.pane.Wheel(m)
	case settledMsg:
		return f, f.lock.settled(m)
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return f, nil
	}
	if f.shared.Keys.Action(keys.Dialog, k.String()) == keys.Close { // harmless at any time
		return nil, nil
	}
	if !f.lock.Takes() {
		return f, nil
	}
	if f.pane.Key(f.shared.Keys, k.String(), true) {
		return f, nil
	}
	if f.shared.Keys.Action(keys.Dialog, k.String()) == keys.Choose {
		return nil, nil
	}
	return f, nil
}

// View draws the dialog.
func (f *Failure) View(width, height int) string {
	s := f.shared.Styles
	f.lock.Drawn()
	frame := Frame{Styles: s, Tone: s.Bad, Title: "Error", Width: width}
	inner := frame.Inner()
	f.pane.Fit(inner, s, func(width int) []string { return wrapWords(sanitize.Marked(strings.TrimSpace(f.err.Error())), width) })
	var foot []string
	for _, line := range wrapWords(NextStep(f.err), inner) {
		foot = append(foot, s.Accent.Render(line))
	}
	foot = append(foot, "")
	foot = append(foot, Hints(s, inner, f.lock.focused(), Hint{f.shared.Keys.Key(keys.Close), "close"})...)
	lines := f.pane.View(height - 4 - len(foot))
	return frame.Render(append(append(lines[:len(lines):len(lines)], f.pane.More(f.shared)), foot...))
}
