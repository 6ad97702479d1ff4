package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// confirm is a yes-or-no question: whether a turn that repeats itself continues.
type confirm struct{ *base }

func newConfirm(b *base) *confirm { return &confirm{b} }

// Update handles a message.
func (c *confirm) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if cmd, ok := c.beside(msg); ok {
		return c, cmd
	}
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if !c.lock.Takes() || c.field == nil && c.pane.Key(c.shared.Keys, k.String(), true) {
			return c, nil
		}
		if c.field == nil {
			return c, c.key(k)
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

func (c *confirm) key(k tea.KeyPressMsg) tea.Cmd {
	switch c.shared.Keys.Action(keys.Ask, k.String()) {
	case keys.Approve:
		return c.answer(pawl.Answer{Outcome: pawl.OutcomeAnswered})
	case keys.Deny:
		return c.answer(pawl.Answer{Outcome: pawl.OutcomeDenied})
	case keys.Message:
		c.field = newField(c.shared, "continue, but", "")
	default:
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
	c.pane.Fit(f.Inner(), c.shared.Styles, func(width int) []string { return wrapWords(sanitize.Marked(c.asking.Ask.Text), width) })
	return c.window(f, height, c.foot(f.Inner()))
}

func (c *confirm) foot(inner int) []string {
	foot, k := c.faults(inner), c.shared.Keys
	switch {
	case c.sending:
		return append(foot, c.shared.Styles.Muted.Render("sending …"))
	case c.field != nil:
		foot = append(foot, c.field.view(inner)...)
		return append(foot, Hints(c.shared.Styles, inner, true, Hint{k.Key(keys.Choose), "continue"}, Hint{k.Key(keys.Close), "back"})...)
	}
	return append(foot, Hints(c.shared.Styles, inner, c.lock.Open(), Hint{k.Key(keys.Approve), "continue"},
		Hint{k.Key(keys.Message), "continue with message"}, Hint{k.Key(keys.Deny), "stop the turn"})...)
}
