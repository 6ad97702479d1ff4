package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// confirm is a yes-or-no question: whether a turn that repeats itself continues.
type confirm struct {
	*base
	menu menu
}

func newConfirm(b *base) *confirm {
	c := &confirm{base: b}
	c.menu.items = []menuItem{
		{label: "Continue", do: func() tea.Cmd { return c.answer(pawl.Answer{Outcome: pawl.OutcomeAnswered}) }},
		{label: "Continue and tell Pawl what to do", do: func() tea.Cmd {
			c.field = newField(c.shared, "What should Pawl do?", "")
			return nil
		}},
		{label: "Stop the turn", do: func() tea.Cmd { return c.answer(pawl.Answer{Outcome: pawl.OutcomeDenied}) }},
	}
	return c
}

// uses reports whether a character does something in the dialog.
func (c *confirm) uses(key string) bool {
	_, number := c.menu.number(key)
	return number || key == "space"
}

// Click chooses what is in a line of the window.
func (c *confirm) Click(line int) (ui.Dialog, tea.Cmd) { return c, c.click(line, &c.menu) }

// Update handles a message.
func (c *confirm) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if cmd, ok := c.beside(msg); ok {
		return c, cmd
	}
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if !c.lock.Takes() {
			return c, nil
		}
		if c.field == nil {
			return c, c.key(k.String())
		}
	}
	if c.field == nil {
		return c, nil
	}
	end, cmd := c.field.update(msg)
	switch text := c.field.value(); {
	case end == fieldLeft:
		c.field = nil
	case end == fieldDone && text != "":
		c.field = nil
		return c, c.answer(pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: text})
	}
	return c, cmd
}

func (c *confirm) key(name string) tea.Cmd {
	if c.pane.Key(c.shared.Keys, name, false) || c.pane.edgeKey(name) {
		return nil
	}
	if cmd, ok := c.menu.key(c.shared.Keys, name); ok {
		return cmd
	}
	if c.shared.Keys.Action(keys.Dialog, name) == keys.Close {
		return c.answer(pawl.Answer{Outcome: pawl.OutcomeDenied})
	}
	return nil
}

// View draws the dialog.
func (c *confirm) View(width, height int) string {
	c.lock.Drawn()
	title := "Continue this turn?"
	if c.asking.Ask.Kind != pawl.AskLoop {
		title = "Yes or no?"
	}
	f := c.frame(width, c.shared.Styles.Warn, title)
	inner := f.Inner()
	c.pane.Fit(inner, c.shared.Styles, func(width int) []string { return wrapWords(sanitize.Marked(c.asking.Ask.Text), width) })
	choices := append(c.menu.view(c.shared.Styles, inner, c.focused()), "")
	if c.field != nil || c.sending {
		choices, c.menu.rows = nil, nil
	}
	foot := c.foot(inner)
	lines := c.who(inner)
	lines = append(lines, c.pane.View(height-4-len(lines)-len(choices)-len(foot))...)
	lines = append(lines, c.pane.More(c.shared))
	c.menu.top = len(lines) + 1
	return f.Render(append(append(lines, choices...), foot...))
}

func (c *confirm) foot(inner int) []string {
	foot, k := c.faults(inner), c.shared.Keys
	switch {
	case c.sending:
		return append(foot, c.shared.Styles.Muted.Render("sending …"))
	case c.field != nil:
		foot = append(foot, c.field.view(inner)...)
		return append(foot, Hints(c.shared.Styles, inner, true, Hint{k.Key(keys.Choose), "continue"}, Hint{k.Key(keys.Close), "back"})...)
	case !c.focused():
		return append(foot, waitingHints(c.shared, inner)...)
	}
	return append(foot, Hints(c.shared.Styles, inner, true, Hint{"↑↓", "move"}, Hint{k.Key(keys.Choose), "choose"}, Hint{k.Key(keys.Close), "stop the turn"})...)
}
