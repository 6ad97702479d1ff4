package completion

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Choice is a completion. Its texts may be untrusted.
type Choice struct {
	Text   string // the inserted text: /name or @path
	Detail string
	Needs  bool // more must follow it
}

// maxShown is how many completions are visible.
const maxShown = 8

// list is the completions and the selection.
type list struct {
	query   picker.Query
	choices []Choice
	at, top int
}

func (l *list) set(q picker.Query, choices []Choice) {
	l.query, l.choices, l.at, l.top = q, choices, 0, 0
}

func (l *list) move(by int) {
	if n := len(l.choices); n > 0 {
		l.at = (l.at + by + n) % n
	}
}

func (l *list) chosen() (Choice, bool) {
	if l.at >= len(l.choices) {
		return Choice{}, false
	}
	return l.choices[l.at], true
}

// view draws the visible completions.
func (l *list) view(s *ui.Shared, width int) []string {
	n := min(maxShown, len(l.choices))
	l.top = min(max(l.top, l.at-n+1), l.at)
	title := 0
	for _, c := range l.choices[l.top : l.top+n] {
		title = max(title, ansi.StringWidth(sanitize.Line(c.Text)))
	}
	title = min(title, max(10, width*3/5))
	lines := make([]string, 0, n)
	for i, c := range l.choices[l.top : l.top+n] {
		lines = append(lines, l.line(s, c, l.top+i == l.at, title, width))
	}
	return lines
}

func (l *list) line(s *ui.Shared, c Choice, chosen bool, title, width int) string {
	styles := s.Styles
	name := ansi.Truncate(picker.Highlight([]rune(c.Text), l.query, styles.Accent.Underline(true)), title, "…")
	name += strings.Repeat(" ", max(0, title-ansi.StringWidth(name)))
	detail := ansi.Truncate(sanitize.Line(c.Detail), max(0, width-title-5), "…")
	if chosen {
		line := "› " + ansi.Strip(name) + "  " + detail
		return styles.Selected.Render(line + strings.Repeat(" ", max(0, width-1-ansi.StringWidth(line))))
	}
	return "  " + name + "  " + styles.Muted.Render(detail)
}

// rank returns the matching choices, best first.
func rank(q picker.Query, choices []Choice) []Choice {
	if q.Empty() {
		return choices
	}
	type scored struct {
		Choice
		score, place int
	}
	var fit []scored
	for i, c := range choices {
		if score, ok := q.Score([]rune(strings.TrimLeft(c.Text, "/@"))); ok {
			fit = append(fit, scored{c, score, i})
		}
	}
	slices.SortFunc(fit, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place)) })
	ranked := make([]Choice, len(fit))
	for i, f := range fit {
		ranked[i] = f.Choice
	}
	return ranked
}

// commands returns the slash commands. Commands of the terminal UI take precedence
// over those of the project, which must not replace them.
func commands(folder pawl.Project) []Choice {
	var choices []Choice
	for _, c := range Builtin {
		detail := c.Help
		if c.Arguments != "" {
			detail = c.Arguments + "  " + detail
		}
		choices = append(choices, Choice{Text: "/" + c.Name, Detail: detail, Needs: NeedsArguments(c.Arguments)})
	}
	for _, c := range folder.Commands {
		if _, hidden := Find(c.Name); !hidden {
			choices = append(choices, Choice{Text: "/" + c.Name, Detail: described(c), Needs: c.Arguments != ""})
		}
	}
	return choices
}

func described(c pawl.CommandInfo) string {
	var words []string
	for _, w := range []string{c.Arguments, c.Description, c.Origin} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, "  ")
}

// mentions returns what can be mentioned besides files.
func mentions(folder pawl.Project) []Choice {
	var choices []Choice
	for _, a := range folder.Agents {
		if a.Offered() {
			choices = append(choices, Choice{Text: "@" + a.Name, Detail: strings.TrimSpace("agent  " + a.Description)})
		}
	}
	for _, s := range folder.Servers {
		if s.State == "ready" {
			choices = append(choices, Choice{Text: "@" + s.Name + ":", Detail: "MCP resources", Needs: true})
		}
	}
	return choices
}
