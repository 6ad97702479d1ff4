package rewind

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// titles of the kinds.
var titles = map[Kind]string{Back: "Rewind to before a message", Undo: "Undo the last turn", Redo: "Redo", Fork: "Fork this session"}

// verbs name what the kinds do.
var verbs = map[Kind]string{Back: "rewind", Undo: "undo", Redo: "redo", Fork: "fork"}

// View draws the dialog.
func (d *Dialog) View(width, height int) string {
	d.lock.Drawn()
	f := dialog.Frame{Styles: d.shared.Styles, Tone: d.shared.Styles.Accent, Title: titles[d.kind], Width: width}
	if d.closely {
		if d.conflicts() {
			f.Tone = d.shared.Styles.Warn
		}
		return f.Render(d.closeView(f.Inner(), height-2))
	}
	if n := len(d.messages); n > 0 {
		f.Right = fmt.Sprintf("%d/%d", d.at+1, n)
	}
	return f.Render(d.listView(f.Inner(), height-2))
}

// listView returns the messages, the plan of the selected one, and the key hints.
func (d *Dialog) listView(width, height int) []string {
	foot := append(d.faults(width), d.listHints(width)...)
	available := max(3, height-2-len(foot)) // a margin above and below
	if d.messages == nil {
		return append([]string{d.shared.Styles.Muted.Render("loading …"), ""}, foot...)
	}
	var below []string
	if d.kind == Back {
		below = append([]string{rule(d.shared.Styles, width)}, d.glance(width, max(4, min(8, available/2-1)))...)
	}
	lines := d.rows(width, available-1-len(below))
	lines = append(lines, below...)
	return append(append(lines, ""), foot...)
}

// rows returns the visible messages.
func (d *Dialog) rows(width, height int) []string {
	height = max(1, min(height, len(d.messages)))
	d.listed = height
	d.top = max(0, min(min(max(d.top, d.at-height+1), d.at), len(d.messages)-height))
	var lines []string
	for i := d.top; i < d.top+height; i++ {
		lines = append(lines, d.row(i, width))
	}
	return lines
}

func (d *Dialog) row(i, width int) string {
	s, m := d.shared.Styles, d.messages[i]
	mark, age, text := "  ", "", "(the whole session)"
	if m.Seq != 0 {
		age, text = humanize.Age(d.now().Sub(m.At)), inWords(m.Parts)
	}
	if m.Steered {
		text = "(steered) " + text
	}
	if i == d.at {
		mark = "› "
	}
	text = ansi.Truncate(text, max(1, width-2-6), "…")
	gap := strings.Repeat(" ", max(1, width-2-ansi.StringWidth(text)-len(age)))
	if i == d.at {
		return s.Selected.Render(mark + text + gap + age)
	}
	return mark + s.Text.Render(text) + gap + s.Muted.Render(age)
}

// maxWords bounds a message, in bytes; it is more than fits a line.
const maxWords = 2000

// inWords returns a message on one line. It may consist of files only.
func inWords(parts pawl.Parts) string {
	text := strings.TrimSpace(parts.Text())
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "")
	}
	if text = sanitize.Line(strings.Join(strings.Fields(text), " ")); text == "" {
		return "(files)"
	}
	return text
}

// glance summarizes the plan of the selected message.
func (d *Dialog) glance(width, height int) []string {
	s := d.shared.Styles
	var lines []string
	switch l := d.selectedPreview(); {
	case l == nil:
		lines = []string{s.Muted.Render("loading the preview …")}
	case l.err != nil:
		lines = failure(s.Bad, l.err, width)
	default:
		lines = summary(s, l.plan, width)
	}
	if len(lines) > height {
		lines = append(lines[:height-1:height-1], s.Muted.Render(fmt.Sprintf("  … %d more", len(lines)-height+1)))
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

func failure(style lipgloss.Style, err error, width int) []string {
	var lines []string
	for _, line := range strings.Split(ansi.Wrap(sanitize.Text(fault.Text(err)), width, ""), "\n") {
		lines = append(lines, style.Render(line))
	}
	return lines
}

func (d *Dialog) faults(width int) []string {
	if d.fault == "" {
		return nil
	}
	return failure(d.shared.Styles.Bad, fmt.Errorf("%s", d.fault), width)
}

func (d *Dialog) listHints(width int) []string {
	s, k := d.shared.Styles, d.shared.Keys
	switch {
	case d.doing:
		return []string{s.Muted.Render("forking …")}
	case d.kind == Fork:
		return dialog.Hints(s, width, d.lock.Open(), dialog.Hint{Key: k.Key(keys.Choose), Does: "fork before it"}, dialog.Hint{Key: k.Key(keys.Close), Does: "close"})
	default:
		return dialog.Hints(s, width, d.lock.Open(), dialog.Hint{Key: k.Key(keys.Choose), Does: "preview"}, dialog.Hint{Key: k.Key(keys.ForkHere), Does: "fork here"},
			dialog.Hint{Key: k.Key(keys.Close), Does: "close"})
	}
}

// closeView returns the full plan.
func (d *Dialog) closeView(width, height int) []string {
	s, l := d.shared.Styles, d.selectedPreview()
	var head []string
	if l != nil && l.err == nil && len(l.plan.Prompt) > 0 {
		head = append(head, s.Muted.Render("from ")+s.User.Render(ansi.Truncate(inWords(l.plan.Prompt), width-5, "…")))
	}
	if d.kind != Redo {
		head = append(head, d.scopeLine())
	}
	if len(head) > 0 {
		head = append(head, "")
	}
	foot := d.closeFoot(width)
	d.pane.Fit(width, s, func(width int) []string {
		switch {
		case l == nil:
			return []string{s.Muted.Render("loading the preview …")}
		case l.err != nil:
			return failure(s.Bad, l.err, width)
		default:
			return append(summary(s, l.plan, width), patch(s, l.plan.Diff, width)...)
		}
	})
	return slices.Concat(head, d.pane.View(height-3-len(head)-len(foot)), []string{d.pane.More(d.shared)}, foot)
}

// scopeNames names the scopes.
var scopeNames = map[pawl.Scope]string{pawl.ScopeBoth: "both", pawl.ScopeFiles: "files", pawl.ScopeConversation: "conversation"}

// scopeLine shows the scope and the alternatives.
func (d *Dialog) scopeLine() string {
	s := d.shared.Styles
	line := s.Muted.Render("scope:")
	for _, scope := range scopes {
		if scope == d.scope {
			line += " " + s.Selected.Render("["+scopeNames[scope]+"]")
		} else {
			line += " " + s.Muted.Render(" "+scopeNames[scope]+" ")
		}
	}
	return line
}

func (d *Dialog) closeFoot(width int) []string {
	s, k := d.shared.Styles, d.shared.Keys
	foot := d.faults(width)
	if d.doing {
		return append(foot, s.Muted.Render("working …"))
	}
	var hints []dialog.Hint
	does, leave := verbs[d.kind], "cancel"
	switch {
	case d.conflicts():
		n := len(d.selectedPreview().plan.Conflicting())
		foot = append(foot, s.Warn.Render(ansi.Truncate(humanize.Plural(n, "file")+" with other changes: back up or keep those changes?", width, "…")))
		hints = append(hints, dialog.Hint{Key: k.Key(keys.BackUpChanged), Does: "back up and " + does}, dialog.Hint{Key: k.Key(keys.Leave), Does: "keep and " + does})
	case d.ready():
		hints = append(hints, dialog.Hint{Key: k.Key(keys.Choose), Does: does})
	}
	if d.kind != Redo {
		hints = append(hints, dialog.Hint{Key: k.Key(keys.NextScope), Does: "change scope"})
	}
	if d.kind == Back {
		leave = "back"
	}
	hints = append(hints, dialog.Hint{Key: k.Key(keys.Close), Does: leave})
	return append(foot, dialog.Hints(s, width, d.lock.Open(), hints...)...)
}
