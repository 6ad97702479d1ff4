package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/help"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// help opens the help of a scope.
func (a *app) help(place keys.Scope) tea.Cmd {
	folder, _ := a.editor.Project()
	return ui.Send(ui.Open{Dialog: help.New(a.shared, place, folder)})
}

// helpKey opens help if the key is bound to it in the current scope.
func (a *app) helpKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	asked := a.shared.Keys.Action(keys.Global, k.String()) == keys.Help
	switch n := len(a.dialogs); {
	case n > 0 && asked:
		return a.dialogHelp(a.dialogs[n-1])
	case n > 0, a.view.Finding():
		return nil, false
	case a.chatFocused && asked:
		return a.help(keys.Chat), true
	case a.chatFocused:
		return nil, false
	}
	if asked || a.editor.Empty() && a.shared.Keys.Action(keys.Editor, k.String()) == keys.HelpEmpty {
		return a.help(keys.Editor), true
	}
	return nil, false
}

// dialogHelp opens help for a dialog, unless it is help itself or text is being typed.
func (a *app) dialogHelp(d ui.Dialog) (tea.Cmd, bool) {
	if p, ok := d.(*picker.Picker); ok && p.Name() == help.ID || a.tooSmall {
		return nil, true
	}
	if ask, ok := d.(dialog.Asker); ok && ask.Typing() {
		return nil, false
	}
	if own, ok := d.(interface{ Actions() []keys.Action }); ok {
		return ui.Send(ui.Open{Dialog: help.ForActions(a.shared, own.Actions())}), true
	}
	return a.help(keys.Dialog), true
}

// runHelpItem runs a command that was chosen in help.
func (a *app) runHelpItem(id string) tea.Cmd {
	name, ok := strings.CutPrefix(id, "/")
	if !ok || name == "" {
		return nil
	}
	return a.editor.Update(picker.Chosen{Picker: completion.Palette, ID: name})
}

// conversation returns the lines of the conversation or, if it is empty, hints.
func (a *app) conversation(height int) []string {
	a.view.Resize(a.width, height)
	lines := a.view.Render()
	if len(a.view.Log.Entries()) > 0 || a.view.Finding() || a.session.ID != "" {
		return lines
	}
	hints := a.startHints()
	if over := len(hints) - height; over > 0 {
		hints = hints[over:]
	}
	copy(lines[max(0, len(lines)-len(hints)):], hints)
	return lines
}

// startHints returns hints for new users.
func (a *app) startHints() []string {
	s, k := a.shared.Styles, a.shared.Keys
	var lines []string
	say := func(text string) {
		for line := range strings.SplitSeq(ansi.Wrap(text, max(1, a.width-2), ""), "\n") {
			lines = append(lines, " "+s.Muted.Render(line))
		}
	}
	if a.shared.Dir != "" {
		say("Working directory: " + sanitize.Line(a.shared.Dir))
	}
	say(fmt.Sprintf("Describe a task and press %s.", k.Key(keys.Send)))
	say("@ mentions a file · / runs a Pawl command · ! runs a shell command")
	if key := k.Key(keys.Help); key != "" {
		say("Press " + key + " for help")
	}
	return append(lines, "")
}
