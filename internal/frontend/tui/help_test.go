package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
)

var f1 = tea.KeyPressMsg{Code: tea.KeyF1}

func (a *app) helps(t *testing.T, key tea.KeyPressMsg, has, hasNot []string) {
	t.Helper()
	a.do(tea.WindowSizeMsg{Width: 100, Height: 100})
	a.do(key)
	screen := ansi.Strip(a.View().Content)
	for _, want := range append(has, "Help") {
		if !strings.Contains(screen, want) {
			t.Errorf("it does not say %q:\n%s", want, screen)
		}
	}
	for _, other := range hasNot {
		if strings.Contains(screen, other) {
			t.Errorf("it says %q, which is of no use here:\n%s", other, screen)
		}
	}
	a.do(tea.KeyPressMsg{Code: tea.KeyEscape})
}

// TestHelp: it lists what counts where the person is, by their own keys.
func TestHelp(t *testing.T) {
	t.Parallel()
	own := map[string][]string{"send": {"ctrl+enter"}, "queue": {}}
	a := dressed(t, Config{Keys: own})
	a.helps(t, f1, []string{"in the editor", "ctrl+enter", "Mention a file", "everywhere", "/theme"}, []string{"ctrl+q", "Expand or collapse the entry", "Always allow"})
	a.helps(t, tea.KeyPressMsg{Code: '?', Text: "?"}, []string{"in the editor"}, nil)
	if !a.editor.Empty() {
		t.Errorf("%q was written", a.editor.Text())
	}
	a.do(tea.KeyPressMsg{Code: 'x', Text: "x"})
	if a.do(tea.KeyPressMsg{Code: '?', Text: "?"}); a.editor.Text() != "x?" || len(a.dialogs) != 0 {
		t.Error("a question mark cannot be written")
	}
	a.focusChat(true)
	a.helps(t, f1, []string{"in the conversation", "Expand or collapse the entry", "Return to the prompt", "/theme"}, []string{"Send the prompt", "Accept a completion"})
	a.focusChat(false)
	a.do(a.chooseTheme("")())
	a.helps(t, f1, []string{"in dialogs", "Choose"}, []string{"/quit", "Page up", "commands"})
	a.says(t, "Themes")
}

// TestHelpWhileAsked: help can be looked at while pawl asks, and answers nothing.
func TestHelpWhileAsked(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	give(a, nil, pawl.Event{Seq: 1, Body: pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop, Text: "one"}}})
	a.do(f1)
	a.says(t, "in dialogs")
	if view := ansi.Strip(a.View().Content); strings.Contains(view, "Edit the rule") {
		t.Errorf("it has a key that does nothing here:\n%s", view)
	}
	a.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	a.says(t, "one")
	if _, cmd := a.Update(tea.KeyPressMsg{Code: 'y', Text: "y"}); cmd != nil {
		t.Error("a key that came right behind help was an answer")
	}
}

// TestHelpRuns: a command that is chosen in help is done.
func TestHelpRuns(t *testing.T) {
	t.Parallel()
	a := dressed(t, Config{})
	a.do(f1)
	for _, r := range "/rename" {
		a.do(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	a.do(tea.KeyPressMsg{Code: tea.KeyEnter})
	if got := a.editor.Text(); got != "/rename " {
		t.Errorf("what needs words is written: %q", got)
	}
}

// TestHints: an empty screen says how to begin, by the person's own keys; one with
// a conversation does not.
func TestHints(t *testing.T) {
	t.Parallel()
	a := dressed(t, Config{Keys: map[string][]string{"send": {"ctrl+enter"}}})
	for _, want := range []string{"Working directory: /work/x", "press ctrl+enter", "@ mentions a file", "Press f1 for help"} {
		a.says(t, want)
	}
	a = drawn(t)
	give(a, nil, pawl.Event{Seq: 1, Body: pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "hi"}}}})
	if strings.Contains(a.View().Content, "mentions a file") {
		t.Error("it is still explained")
	}
}
