package dialog

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// View draws the dialog.
func (f *form) View(width, height int) string {
	f.lock.Drawn()
	title := "Question"
	if n := len(f.answers); n > 1 {
		title = fmt.Sprintf("%d questions", n)
	}
	if f.isPlan() {
		title = "Plan"
	}
	frame := f.frame(width, f.shared.Styles.Accent, title)
	inner := frame.Inner()
	f.pane.Fit(inner, f.shared.Styles, f.text)
	lines, body, foot := f.who(inner), f.body(inner), f.foot(inner)
	if len(f.pane.lines) > 0 {
		lines = append(lines, f.pane.View(max(minPane, height-3-len(lines)-len(body)-len(foot)))...)
		lines = append(lines, f.pane.More(f.shared))
	}
	lines = append(lines, around(body, height-2-len(lines)-len(foot))...)
	return frame.Render(append(lines, foot...))
}

// minPane is how many lines of a plan are shown at least.
const minPane = 3

// around returns the lines around the cursor, if there are too many.
func around(lines []string, height int) []string {
	if height = max(1, height); len(lines) <= height {
		return lines
	}
	at := 0
	for i, line := range lines {
		if strings.HasPrefix(ansi.Strip(line), cursorMark) {
			at = i
		}
	}
	top := max(0, min(at-height/2, len(lines)-height))
	return lines[top : top+height]
}

// text returns what the questions are about.
func (f *form) text(width int) []string {
	if strings.TrimSpace(f.asking.Ask.Text) == "" {
		return nil
	}
	text := sanitize.Marked(f.asking.Ask.Text)
	if !f.isPlan() {
		return wrapWords(text, width)
	}
	var lines []string
	for _, line := range markdown.Render(markdown.NewStyles(f.shared.Styles), width, text) {
		lines = append(lines, line.Text)
	}
	return lines
}

// body returns the current question, or the review.
func (f *form) body(width int) []string {
	lines := f.tabs(width)
	if f.review() {
		return append(lines, f.all(width)...)
	}
	q, g := f.question()
	for _, line := range wrapWords(sanitize.Marked(q.Question), width) {
		lines = append(lines, f.shared.Styles.Bold.Render(line))
	}
	lines = append(lines, "")
	for i, o := range q.Options {
		lines = append(lines, f.option(width, i, q.Multiple, g, sanitize.Line(o.Label), sanitize.Line(o.Description))...)
	}
	label := "Other …"
	if g.own != "" {
		label = "Other: " + sanitize.Line(g.own)
	}
	lines = append(lines, f.option(width, len(q.Options), q.Multiple, g, label, "")...)
	if f.word != "" {
		lines = append(lines, "", f.shared.Styles.Muted.Render("message: ")+sanitize.Line(f.word))
	}
	return append(lines, "")
}

// option returns the lines of an option.
func (f *form) option(width, i int, multiple bool, g *answerState, label, about string) []string {
	s := f.shared.Styles
	mark := fmt.Sprintf("%d ", i+1)
	if multiple {
		checkbox := "[ ] "
		if g.chosen[i] || g.own != "" && i == len(f.asking.Ask.Questions[f.at].Options) {
			checkbox = "[x] "
		}
		mark += checkbox
	}
	style, cursor := s.Text, "  "
	if g.cursor == i && f.focused() {
		style, cursor = s.Accent, cursorMark
	}
	indent := strings.Repeat(" ", ansi.StringWidth(cursor+mark))
	var lines []string
	for n, line := range wrapWords(label, width-len(indent)) {
		if n == 0 {
			line = cursor + mark + line
		} else {
			line = indent + line
		}
		lines = append(lines, style.Render(line))
	}
	if about == "" {
		return lines
	}
	for _, line := range wrapWords(about, width-len(indent)) {
		lines = append(lines, s.Muted.Render(indent+line))
	}
	return lines
}

// tabs returns the names of the questions, if there are several.
func (f *form) tabs(width int) []string {
	if len(f.answers) < 2 {
		return nil
	}
	s := f.shared.Styles
	var parts []string
	for i, q := range f.asking.Ask.Questions {
		head := sanitize.Line(q.Header)
		switch {
		case i == f.at:
			parts = append(parts, s.Accent.Underline(true).Render(head))
		case f.ready(i):
			parts = append(parts, s.Good.Render("✓ "+head))
		default:
			parts = append(parts, s.Muted.Render(head))
		}
	}
	if f.review() {
		parts = append(parts, s.Accent.Underline(true).Render("review"))
	}
	return []string{ansi.Truncate(strings.Join(parts, s.Muted.Render(" · ")), width, "…"), ""}
}

// all returns the review of the answers.
func (f *form) all(width int) []string {
	s := f.shared.Styles
	var lines []string
	for i, q := range f.asking.Ask.Questions {
		lines = append(lines, s.Muted.Render(sanitize.Line(q.Header)))
		for _, label := range f.labels(i) {
			for _, line := range wrapWords(sanitize.Line(label), width-2) {
				lines = append(lines, "  "+line)
			}
		}
	}
	return append(lines, "")
}

// foot returns the actions.
func (f *form) foot(inner int) []string {
	foot, k := f.faults(inner), f.shared.Keys
	switch {
	case f.sending:
		return append(foot, f.shared.Styles.Muted.Render("sending …"))
	case f.field != nil:
		foot = append(foot, f.field.view(inner)...)
		return append(foot, Hints(f.shared.Styles, inner, true, Hint{k.Key(keys.Choose), "done"}, Hint{k.Key(keys.Close), "back"})...)
	}
	if !f.focused() {
		return append(foot, waitingHints(f.shared, inner)...)
	}
	return append(foot, Hints(f.shared.Styles, inner, true, f.hints()...)...)
}

func (f *form) hints() []Hint {
	k := f.shared.Keys
	enter := Hint{k.Key(keys.Choose), "choose"}
	if f.review() {
		enter.Does = "send"
	}
	hints := []Hint{enter}
	if !f.review() && f.asking.Ask.Questions[f.at].Multiple {
		hints = []Hint{{"space", "select"}, {enter.Key, "continue"}}
	}
	if len(f.answers) > 1 {
		hints = append(hints, Hint{"←", "back"})
	}
	closeLabel := "skip"
	if f.asking.Ask.Kind == pawl.AskPlan {
		closeLabel = "keep planning"
	}
	return append(hints, Hint{k.Key(keys.Message), "add a message"}, Hint{k.Key(keys.Close), closeLabel})
}
