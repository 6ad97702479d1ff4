package dialog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// permission is the permission prompt of a tool call. Nothing is selected at first:
// enter and space, which are easily pressed, do not allow anything; a letter does. A
// yes is accepted only when the whole text has been visible.
type permission struct {
	*base
	offer  []json.RawMessage // as offered, or as edited by the user
	edited bool
	rules  bool // the field is for the rules
	unread bool // a yes came too early
}

func newPermission(b *base) *permission { return &permission{base: b, offer: b.asking.Ask.Offer} }

// Update handles a message.
func (p *permission) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if cmd, ok := p.beside(msg); ok {
		return p, cmd
	}
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if !p.lock.Takes() {
			return p, nil
		}
		if p.field == nil && p.pane.Key(p.shared.Keys, k.String(), true) {
			p.unread = false
			return p, nil
		}
		if p.field == nil {
			return p, p.key(k)
		}
	}
	if p.field != nil {
		return p, p.write(msg)
	}
	return p, nil
}

func (p *permission) key(k tea.KeyPressMsg) tea.Cmd {
	p.unread = false
	switch p.shared.Keys.Action(keys.Ask, k.String()) {
	case keys.Approve:
		return p.approve(nil)
	case keys.Always:
		if len(p.offer) > 0 {
			return p.approve(p.offer)
		}
	case keys.EditRule:
		if len(p.offer) > 0 {
			p.rules, p.field = true, newField(p.shared, "rules, one per line; leave empty to add none", ruleText(p.offer))
		}
	case keys.Deny:
		return p.answer(pawl.Answer{Outcome: pawl.OutcomeDenied})
	case keys.Message:
		p.rules, p.field = false, newField(p.shared, "what to do instead", "")
	default:
	}
	return nil
}

// approve allows the call, if all of its text has been visible.
func (p *permission) approve(always []json.RawMessage) tea.Cmd {
	if p.pane.unseen() > 0 {
		p.unread = true
		return nil
	}
	return p.answer(pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: always})
}

// write handles input for the field: the rules, or a word to the model.
func (p *permission) write(msg tea.Msg) tea.Cmd {
	end, cmd := p.field.update(msg)
	switch end {
	case fieldLeft:
		p.field, p.fault = nil, ""
	case fieldDone:
		return p.written()
	case fieldOpen:
	}
	return cmd
}

func (p *permission) written() tea.Cmd {
	text := p.field.value()
	if p.rules {
		offer, err := parseRules(text)
		if err != nil {
			p.fault = fault.Text(err)
			return nil
		}
		p.offer, p.edited, p.field, p.fault = offer, true, nil, ""
		p.pane.Renew()
		return nil
	}
	if text == "" {
		return nil
	}
	p.field = nil
	return p.answer(pawl.Answer{Outcome: pawl.OutcomeDenied, Text: text})
}

// ruleText formats rules for editing.
func ruleText(rules []json.RawMessage) string {
	var lines []string
	for _, r := range rules {
		lines = append(lines, sanitize.Line(string(r)))
	}
	return strings.Join(lines, "\n")
}

// parseRules parses edited rules. The service decides whether they can be saved.
func parseRules(text string) ([]json.RawMessage, error) {
	var rules []json.RawMessage
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			return nil, fmt.Errorf("invalid rule %s: write it like {\"tool\":\"bash\",\"pattern\":\"go test *\",\"decision\":\"allow\"}", line)
		}
		var rule bytes.Buffer
		if err := json.Compact(&rule, []byte(line)); err != nil {
			return nil, err
		}
		rules = append(rules, rule.Bytes())
	}
	return rules, nil
}

// title returns the question of the prompt.
func (p *permission) title() string {
	title, _ := sections(p.asking.Ask.Text)
	if strings.TrimSpace(title) == "" {
		return "Allow this tool call?"
	}
	return sanitize.Line(title)
}

// View draws the dialog.
func (p *permission) View(width, height int) string {
	p.lock.Drawn()
	f := p.frame(width, p.shared.Styles.Warn, p.title())
	p.pane.Fit(f.Inner(), p.shared.Styles, p.text)
	return p.window(f, height, p.foot(f.Inner()))
}

// foot returns the actions.
func (p *permission) foot(inner int) []string {
	foot := p.faults(inner)
	k := p.shared.Keys
	switch {
	case p.sending:
		return append(foot, p.shared.Styles.Muted.Render("sending …"))
	case p.field != nil:
		foot = append(foot, p.field.view(inner)...)
		does := "deny and send"
		if p.rules {
			does = "use these rules"
		}
		return append(foot, Hints(p.shared.Styles, inner, true, Hint{k.Key(keys.Choose), does}, Hint{k.Key(keys.Close), "back"})...)
	case p.unread:
		foot = append(foot, p.shared.Styles.Bad.Render(fmt.Sprintf("%s not shown yet: press %s or end",
			humanize.Plural(p.pane.unseen(), "line"), k.Key(keys.PageDown))))
	}
	hints := []Hint{{k.Key(keys.Approve), "allow once"}}
	if len(p.offer) > 0 {
		hints = append(hints, Hint{k.Key(keys.Always), "always allow"}, Hint{k.Key(keys.EditRule), "edit rule"})
	}
	hints = append(hints, Hint{k.Key(keys.Deny), "deny"}, Hint{k.Key(keys.Message), "deny with message"})
	return append(foot, Hints(p.shared.Styles, inner, p.lock.Open(), hints...)...)
}
