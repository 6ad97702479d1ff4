package dialog

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// permission is the permission prompt of a tool call, or asks whether to apply the changes of a command
// that has run. A yes is accepted only when the command or the diff has been visible to its end.
type permission struct {
	*base
	offer  []json.RawMessage // as offered, or as edited by the user
	menu   menu
	rules  bool  // the field is for the rules
	unread bool  // a yes came too early
	detail *Pane // all details, while they are shown instead
	small  bool  // on a small screen the reason scrolls with the command
}

func newPermission(b *base) *permission {
	p := &permission{base: b, offer: b.asking.Ask.Offer}
	p.fillMenu()
	return p
}

// fillMenu offers the choices with the current rules.
func (p *permission) fillMenu() {
	p.menu.items = nil
	for _, c := range transcript.Choices(p.asking.Ask) {
		answer := c.Answer
		item := menuItem{label: c.Label, do: func() tea.Cmd { return p.approve(answer) }}
		switch {
		case answer.Outcome == pawl.OutcomeDenied:
			item.label += " and tell Pawl what to do instead"
			item.do = p.askInstead
		case len(answer.Always) > 0 && len(p.offer) == 0:
			continue
		case len(answer.Always) > 0:
			answer.Always = p.offer
			if !answer.Session {
				item.detail = strings.Join(patterns(p.offer), " , ")
			}
		}
		p.menu.items = append(p.menu.items, item)
	}
}

// uses reports whether a character does something in the prompt.
func (p *permission) uses(key string) bool {
	_, number := p.menu.number(key)
	action := p.shared.Keys.Action(keys.Ask, key)
	return number || key == "space" || action == keys.Details || action == keys.EditRule && len(p.offer) > 0
}

// Update handles a message.
func (p *permission) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if cmd, ok := p.beside(msg); ok {
		return p, cmd
	}
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if !p.lock.Takes() {
			return p, nil
		}
		if p.field == nil {
			return p, p.key(k.String())
		}
	}
	if p.field != nil {
		return p, p.write(msg)
	}
	return p, nil
}

// text returns the pane that is shown.
func (p *permission) text() *Pane {
	if p.detail != nil {
		return p.detail
	}
	return &p.pane
}

func (p *permission) key(name string) tea.Cmd {
	p.unread = false
	if p.text().Key(p.shared.Keys, name, p.detail != nil) || p.text().edgeKey(name) {
		return nil
	}
	if cmd, ok := p.menu.key(p.shared.Keys, name); ok {
		return cmd
	}
	switch p.shared.Keys.Action(keys.Ask, name) {
	case keys.Details:
		p.toggleDetails()
	case keys.EditRule:
		p.editRules()
	default:
	}
	if p.shared.Keys.Action(keys.Dialog, name) == keys.Close {
		if p.detail != nil {
			p.toggleDetails()
			return nil
		}
		return p.deny("")
	}
	return nil
}

// Click chooses what is in a line of the window. The first click on a prompt that does not have the
// keyboard only gives it the keyboard.
func (p *permission) Click(line int) (ui.Dialog, tea.Cmd) { return p, p.click(line, &p.menu) }

func (p *permission) toggleDetails() {
	if p.detail != nil {
		p.detail = nil
		return
	}
	p.detail = &Pane{}
}

// approve allows the call, if all that it would do has been visible.
func (p *permission) approve(a pawl.Answer) tea.Cmd {
	if p.pane.unseen() > 0 {
		p.unread = true
		return nil
	}
	return p.answer(a)
}

func (p *permission) deny(text string) tea.Cmd {
	return p.answer(pawl.Answer{Outcome: pawl.OutcomeDenied, Text: text, Names: p.asking.Ask.Names})
}

// askInstead opens the field for a message to the model.
func (p *permission) askInstead() tea.Cmd {
	p.rules, p.field = false, newField(p.shared, "What should Pawl do instead?", "")
	return nil
}

// editRules opens the field for the patterns of the rules.
func (p *permission) editRules() {
	if len(p.asking.Ask.Offer) > 0 {
		p.rules, p.field = true, newField(p.shared, "Always allow, one pattern per line", strings.Join(patterns(p.offer), "\n"))
	}
}

// write handles input for the field: the rules, or a message to the model.
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
	p.field = nil
	if !p.rules {
		return p.deny(text)
	}
	p.offer, p.fault = withPatterns(p.asking.Ask.Offer, text), ""
	p.pane.Renew()
	p.fillMenu()
	p.menu.cursor = max(0, len(p.menu.items)-2) // the one that the rules are for
	return nil
}

// patterns returns what the rules are for, sanitized: their patterns, or the tool of a rule without one.
func patterns(rules []json.RawMessage) []string {
	var list []string
	for _, r := range rules {
		list = append(list, sanitize.Line(patternOf(r)))
	}
	return list
}

func patternOf(rule json.RawMessage) string {
	var r struct{ Tool, Pattern string }
	switch err := json.Unmarshal(rule, &r); {
	case err != nil:
		return string(rule)
	case r.Pattern == "":
		return r.Tool
	}
	return r.Pattern
}

// withPatterns returns the rules for the edited patterns, one per line. A changed pattern belongs to
// the rule at its place. The service decides whether the rules can be saved.
func withPatterns(offer []json.RawMessage, text string) []json.RawMessage {
	var rules []json.RawMessage
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		rules = append(rules, ruleFor(offer, len(rules), line))
	}
	return rules
}

// ruleFor returns the offered rule with a pattern, or the one at a place with that pattern instead.
func ruleFor(offer []json.RawMessage, at int, pattern string) json.RawMessage {
	for i, p := range patterns(offer) {
		if p == pattern {
			return offer[i]
		}
	}
	var rule map[string]any
	rest := offer[min(at, len(offer)-1)]
	if json.Unmarshal(rest, &rule) != nil {
		return rest
	}
	rule["pattern"] = pattern
	text, err := json.Marshal(rule)
	if err != nil {
		return rest
	}
	return text
}

// riskTone returns the style of the frame, by the risk.
func (p *permission) riskTone() lipgloss.Style {
	switch s := p.shared.Styles; p.asking.Ask.Risk {
	case "high":
		return s.Bad
	case "low":
		return s.Accent
	default:
		return s.Warn
	}
}

// title returns what the prompt is about.
func (p *permission) title() string {
	title := p.asking.Ask.Title
	if changed := changedTitle(p.asking.Ask); changed != "" {
		title = changed
	}
	if title == "" {
		title, _ = sections(p.asking.Ask.Text)
	}
	if title = sanitize.Line(title); strings.TrimSpace(title) == "" {
		return "Allow this tool call?"
	}
	return title
}

// maxTitleCommand is how long a command may be to stand in the title.
const maxTitleCommand = 40

// filesChanged matches the summary of changes.
var filesChanged = regexp.MustCompile(`^([0-9]+ files?) changed`)

// changedTitle returns which command changed how many files, or "" if none did.
func changedTitle(a pawl.Ask) string {
	files := filesChanged.FindStringSubmatch(a.Reason)
	if !a.Ran || files == nil {
		return ""
	}
	command := strings.TrimSpace(a.Command)
	if command == "" || strings.Contains(command, "\n") || ansi.StringWidth(command) > maxTitleCommand {
		return "The command changed " + files[1]
	}
	return fmt.Sprintf("`%s` changed %s", command, files[1])
}

// View draws the dialog.
func (p *permission) View(width, height int) string {
	p.lock.Drawn()
	f := p.frame(width, p.riskTone(), p.title())
	if risk := sanitize.Line(p.asking.Ask.Risk); risk != "" {
		f.Right = strings.TrimSuffix(risk+" risk · "+f.Right, " · ")
	}
	inner := f.Inner()
	if small := height < minHeight; small != p.small {
		p.small, p.menu.short = small, small
		p.pane.Renew()
	}
	p.pane.Fit(inner, p.shared.Styles, p.body)
	if p.detail != nil {
		p.detail.Fit(inner, p.shared.Styles, p.details)
	}
	return p.layout(f, height)
}

// layout draws the text, the reason and the choices. Blank lines separate them if there is space.
func (p *permission) layout(f Frame, height int) string {
	inner := f.Inner()
	why, foot := p.why(inner), p.foot(inner)
	if p.small {
		why = nil
		if p.field == nil {
			foot = foot[:min(1, len(foot))]
		}
	}
	choices := p.menu.view(p.shared.Styles, inner, p.focused())
	if p.field != nil || p.sending {
		choices, p.menu.rows = nil, nil
	}
	gap := []string{""}
	lines := p.who(inner)
	fixed := len(lines) + len(why) + len(choices) + len(foot) + 3 // the frame, and the line about what is below
	if fixed+4+min(len(p.text().lines), minBody) > height {
		gap = nil
	}
	lines = append(gap[:len(gap):len(gap)], lines...)
	body := p.text().View(height - fixed - 4*len(gap))
	lines = append(lines, body...)
	if more := p.text().More(p.shared); more != "" || gap != nil {
		lines = append(lines, more)
	}
	if len(why) > 0 {
		lines = append(append(lines, why...), gap...)
	}
	p.menu.top = len(lines) + 1
	if len(choices) > 0 {
		lines = append(append(lines, choices...), gap...)
	}
	return f.Render(append(lines, foot...))
}

// minHeight is the height from which the reason has lines of its own.
const minHeight = 16

// minBody is how many lines of the command or the diff are shown before blank lines are.
const minBody = 8

// foot returns the field or the hints.
func (p *permission) foot(inner int) []string {
	foot, k := p.faults(inner), p.shared.Keys
	switch {
	case p.sending:
		return append(foot, p.shared.Styles.Muted.Render("sending …"))
	case p.field != nil:
		foot = append(foot, p.field.view(inner)...)
		does := "send"
		if p.rules {
			does = "use these patterns"
		}
		return append(foot, Hints(p.shared.Styles, inner, true, Hint{k.Key(keys.Choose), does}, Hint{k.Key(keys.Close), "back"})...)
	case p.unread:
		foot = append(foot, p.shared.Styles.Bad.Render(fmt.Sprintf("%s not shown yet: press %s or end",
			humanize.Plural(p.pane.unseen(), "line"), k.Key(keys.PageDown))))
	}
	if !p.focused() {
		return append(foot, waitingHints(p.shared, inner)...)
	}
	return append(foot, Hints(p.shared.Styles, inner, true, p.hints()...)...)
}

func (p *permission) hints() []Hint {
	k := p.shared.Keys
	hints := []Hint{{"↑↓", "move"}, {k.Key(keys.Choose), "choose"}}
	if len(p.asking.Ask.Offer) > 0 {
		hints = append(hints, Hint{k.Key(keys.EditRule), "edit rule"})
	}
	details, deny := "details", "deny"
	if p.asking.Ask.Ran {
		deny = "discard"
	}
	if p.detail != nil {
		hints, details, deny = []Hint{{"↑↓", "scroll"}}, "back", "back"
	}
	return append(hints, Hint{k.Key(keys.Details), details}, Hint{k.Key(keys.Close), deny})
}

// why returns what will happen and why it asks.
func (p *permission) why(width int) []string {
	_, list := sections(sanitize.Marked(p.asking.Ask.Text))
	reason := sanitize.Line(p.asking.Ask.Reason)
	shown := slices.ContainsFunc(list, func(s section) bool { return s.name != "" && s.name == reason }) // the list of changed files
	text := reasonText(reason, list)
	if strings.TrimSpace(text) == "" || shown || p.detail != nil {
		return nil
	}
	return strings.Split(ansi.Wrap(text, width, ""), "\n")
}
