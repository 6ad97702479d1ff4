package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Prompts open by themselves, above the composer, which keeps the keyboard while the user types; see
// [dialog.Route].

// prompt returns the prompt on top, or nil.
func (a *app) prompt() dialog.Prompt {
	n := len(a.dialogs)
	if n == 0 {
		return nil
	}
	p, _ := a.dialogs[n-1].(dialog.Prompt)
	return p
}

// composing reports whether the composer has the keyboard.
func (a *app) composing() bool {
	if a.chatFocused || a.view.Finding() {
		return false
	}
	p := a.prompt()
	return len(a.dialogs) == 0 || p != nil && !dialog.Focused(p)
}

// dialogKey handles a key while a dialog is open. taken is false if the key is for the composer.
func (a *app) dialogKey(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	if a.tooSmall {
		return a.tooSmallKey(k), true
	}
	p := a.prompt()
	if p == nil {
		return a.forward(k), true
	}
	dialog.SetDraft(p, !a.editor.Empty())
	if !dialog.Focused(p) && a.editor.Completing() {
		return dialog.Touch(p), false
	}
	to, cmd := dialog.Route(p, a.shared.Keys, k)
	switch {
	case to == dialog.ToComposer:
		return cmd, false
	case to == dialog.ToNobody:
		return cmd, true
	case !p.Typing() && a.shared.Keys.Action(keys.Global, k.String()) == keys.Quit:
		return tea.Quit, true // the ask stays pending in the log
	}
	return tea.Batch(cmd, a.forward(k)), true
}

// pasteBelow gives a paste to the composer if a prompt without a text field is open.
func (a *app) pasteBelow(msg tea.Msg) (tea.Cmd, bool) {
	p := a.prompt()
	if p == nil || p.Typing() {
		return nil, false
	}
	switch msg.(type) {
	case tea.PasteMsg, tea.ClipboardMsg:
		return tea.Batch(dialog.Touch(p), a.editor.Update(msg)), true
	}
	return nil, false
}

// dialogMouse handles a mouse event while a dialog is open: a click on a choice chooses it.
func (a *app) dialogMouse(m tea.MouseMsg) tea.Cmd {
	click, ok := m.(tea.MouseClickMsg)
	d, can := a.dialogs[len(a.dialogs)-1].(interface {
		Click(line int) (ui.Dialog, tea.Cmd)
	})
	if !ok || !can || click.Button != tea.MouseLeft || a.tooSmall {
		return a.forward(m)
	}
	next, cmd := d.Click(click.Y - a.panelTop)
	return a.replaceTop(next, cmd)
}

// replaceTop replaces the top dialog; nil closes it.
func (a *app) replaceTop(next ui.Dialog, cmd tea.Cmd) tea.Cmd {
	n := len(a.dialogs)
	if next == nil {
		a.dialogs = a.dialogs[:n-1]
		return a.beforeFirstPrompt(tea.Batch(cmd, a.topChanged()))
	}
	a.dialogs[n-1] = next
	return cmd
}

// minDocked is the height from which a prompt is drawn above the composer instead of over the screen.
const minDocked = 12

// docked returns the lines of a prompt that is drawn above the composer, or nil. At least a line of the
// conversation stays visible.
func (a *app) docked(height int) []string {
	p := a.prompt()
	if p == nil || height < minDocked {
		return nil
	}
	dialog.SetDraft(p, !a.editor.Empty())
	panel := p.View(a.width, height-1)
	if lipgloss.Width(panel) > a.width || lipgloss.Height(panel) > height-1 {
		return nil
	}
	lines := strings.Split(panel, "\n")
	left := strings.Repeat(" ", max(0, (a.width-lipgloss.Width(panel))/2))
	for i := range lines {
		lines[i] = left + lines[i]
	}
	a.panelTop = height - len(lines)
	return lines
}
