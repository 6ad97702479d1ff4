package subagents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/humanize"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// View draws the list, or the conversation of a subagent.
func (d *Dialog) View(width, height int) string {
	if d.conversation != nil {
		return d.conversation.draw(width, height, strings.Join(append(d.faults(width), d.hints(width)...), " "))
	}
	s := d.shared.Styles
	list := d.lines()
	f := dialog.Frame{Styles: s, Tone: s.Accent, Title: "Subagents and background commands", Width: width}
	if n := len(d.tasks.Working()); n > 0 {
		f.Right = humanize.Plural(n, "subagent") + " working"
	}
	inner := f.Inner()
	foot := slices.Concat([]string{""}, d.faults(inner), d.hints(inner))
	if len(list) == 0 {
		text := "None yet"
		if d.asked {
			text = "loading …"
		}
		return f.Render(append([]string{s.Muted.Render(text)}, foot...))
	}
	return f.Render(append(d.list(list, inner, height-4-len(foot)), foot...))
}

// list draws the visible entries.
func (d *Dialog) list(list []line, width, height int) []string {
	d.at = max(0, min(d.at, len(list)-1))
	d.listed = max(1, min(height/2, len(list)))
	d.top = max(0, min(min(max(d.top, d.at-d.listed+1), d.at), len(list)-d.listed))
	var lines []string
	for i := d.top; i < d.top+d.listed; i++ {
		if l := list[i]; l.job != nil {
			lines = append(lines, d.jobLines(l.job, i == d.at, width)...)
		} else {
			lines = append(lines, d.taskLines(l.id, i == d.at, width)...)
		}
	}
	return lines
}

// title returns the title of a subagent.
func (d *Dialog) title(id pawl.SessionID) string {
	if k := d.tasks.Find(id); k != nil && k.Title != "" {
		return k.Title
	}
	return d.row(id).session.Name()
}

// taskLines draws a subagent: title, state and last activity.
func (d *Dialog) taskLines(id pawl.SessionID, chosen bool, width int) []string {
	r, k := d.row(id), d.tasks.Find(id)
	word, works := r.tail.state(r.session)
	agent, began := r.tail.agent, r.session.Created
	if k != nil && k.Agent != "" {
		agent = k.Agent
	}
	if k != nil && began.IsZero() {
		began = k.Began
	}
	facts := []string{agent, word}
	switch {
	case works:
		facts = append(facts, elapsed(d.now().Sub(began)))
	case r.tail.end != nil && !r.tail.end.At.IsZero():
		facts = append(facts, elapsed(r.tail.end.At.Sub(began)))
	}
	if cost := r.session.Usage.Cost + r.tail.cost; cost > 0 {
		facts = append(facts, humanize.Dollars(cost))
	}
	return d.pair(d.title(id), facts, r.tail.line, d.tone(word), chosen, width)
}

// jobLines draws a job: the command, and its last output.
func (d *Dialog) jobLines(j *Job, chosen bool, width int) []string {
	facts := []string{j.ID}
	if j.Over {
		facts = append(facts, j.State)
	} else {
		facts = append(facts, "running", "checked "+humanize.Age(d.now().Sub(j.Seen))+" ago")
		if d.now().Sub(j.Seen).Minutes() < 1 {
			facts[2] = "checked just now"
		}
	}
	return d.pair("$ "+j.Command, facts, j.Last, d.tone(facts[1]), chosen, width)
}

// tone returns the style of a state.
func (d *Dialog) tone(word string) lipgloss.Style {
	s := d.shared.Styles
	switch word {
	case "working", "starting", "running":
		return s.Accent
	case "done":
		return s.Good
	case "failed":
		return s.Bad
	default:
		return s.Warn
	}
}

// pair draws two lines. The second of the facts is the state.
func (d *Dialog) pair(title string, facts []string, last string, tone lipgloss.Style, chosen bool, width int) []string {
	s := d.shared.Styles
	for i, f := range facts {
		facts[i] = sanitize.Line(f)
	}
	state := facts[1]
	facts = slices.DeleteFunc(facts, func(f string) bool { return f == "" })
	right := strings.Join(facts, "  ")
	title = ansi.Truncate(sanitize.Line(title), max(4, width-4-ansi.StringWidth(right)), "…")
	gap := strings.Repeat(" ", max(1, width-2-ansi.StringWidth(title)-ansi.StringWidth(right)))
	second := ansi.Truncate("    "+sanitize.Line(last), width, "…")
	if chosen {
		first := ansi.Truncate("› "+title+gap+right, width, "…")
		return []string{s.Selected.Render(first + strings.Repeat(" ", max(0, width-ansi.StringWidth(first)))), s.Muted.Render(second)}
	}
	before, after, _ := strings.Cut(right, state)
	first := "  " + s.Text.Render(title) + gap + s.Muted.Render(before) + tone.Render(state) + s.Muted.Render(after)
	return []string{ansi.Truncate(first, width, "…"), s.Muted.Render(second)}
}

func (d *Dialog) faults(width int) []string {
	if d.fault == "" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(sanitize.Line(d.fault), width, ""), "\n") {
		lines = append(lines, d.shared.Styles.Bad.Render(line))
	}
	return lines
}

// hints returns the key hints for the selection.
func (d *Dialog) hints(width int) []string {
	s, k := d.shared.Styles, d.shared.Keys
	l, ok := d.chosen()
	if ok && d.armed != "" && d.armed == l.id {
		return []string{s.Warn.Render(ansi.Truncate(fmt.Sprintf("Press %s again to stop %q", k.Key(keys.EndTask), sanitize.Line(d.title(l.id))), width, "…"))}
	}
	var hints []dialog.Hint
	if ok && l.job == nil {
		if d.conversation == nil {
			hints = append(hints, dialog.Hint{Key: k.Key(keys.Choose), Does: "open"})
		}
		r := d.row(l.id)
		word, works := r.tail.state(r.session)
		if works {
			hints = append(hints, dialog.Hint{Key: k.Key(keys.EndTask), Does: "stop"})
		}
		if word == "waiting" {
			hints = append(hints, dialog.Hint{Key: k.Key(keys.Close), Does: "close to answer"})
			return dialog.Hints(s, width, true, hints...)
		}
	}
	leave := "close"
	if d.conversation != nil {
		leave = "back"
	}
	return dialog.Hints(s, width, true, append(hints, dialog.Hint{Key: k.Key(keys.Close), Does: leave})...)
}
