package subagents

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// roomy is the height from which blank lines separate the parts.
const roomy = 14

// View draws the board, or the conversation of a worker.
func (b *Board) View(width, height int) string {
	s, m := b.shared.Styles, b.mission
	if b.conversation != nil {
		return b.conversation.draw(width, height, strings.Join(dialog.Hints(s, width, true, dialog.Hint{Key: b.shared.Keys.Key(keys.Close), Does: "back"}), " "))
	}
	f := dialog.Frame{Styles: s, Tone: s.Accent, Title: "Mission", Width: width}
	inner := f.Inner()
	foot := append(b.faults(inner), b.hints(inner)...)
	if height >= roomy {
		foot = append([]string{""}, foot...)
	}
	if m.board == nil {
		return f.Render(append([]string{s.Muted.Render("loading …")}, foot...))
	}
	f.Tone = b.stateTone()
	done, all := m.count()
	f.Right = fmt.Sprintf("%s · %d of %d merged", m.board.State, done, all)
	available := max(1, height-2-len(foot))
	head := b.head(inner)
	head = head[:max(0, min(len(head), available-3))]
	proof := b.evidence(inner)
	proof = proof[:max(0, min(len(proof), (available-len(head))*2/5))]
	if len(proof) > 0 {
		proof = append([]string{""}, proof...)
	}
	list := b.list(inner, available-len(head)-len(proof))
	return f.Render(slices.Concat(head, list, proof, foot))
}

// stateTone returns the style of the mission's state.
func (b *Board) stateTone() lipgloss.Style {
	s := b.shared.Styles
	switch b.mission.board.State {
	case pawl.MissionSealed:
		return s.Good
	case pawl.MissionBlocked, pawl.MissionStopped, pawl.MissionPlanned, pawl.MissionPaused:
		return s.Warn
	case pawl.MissionWorking:
	}
	return s.Accent
}

// head shows the goal, the cost and the result.
func (b *Board) head(width int) []string {
	s, m := b.shared.Styles, b.mission.board
	goal, _, _ := strings.Cut(strings.TrimSpace(m.Mission.Order.Goal), "\n")
	lines := []string{s.Bold.Render(ansi.Truncate(sanitize.Line(goal), width, "…")), s.Muted.Render(ansi.Truncate(b.spent(), width, "…"))}
	if end, tone := b.end(); end != "" {
		lines = append(lines, tone.Render(ansi.Truncate(end, width, "…")))
	}
	return append(lines, "")
}

// spent returns the cost of the whole team and its limit.
func (b *Board) spent() string {
	board, budget := b.mission.board, pawl.Settings{}
	if b.mission.budget != nil {
		budget = *b.mission.budget
	}
	cost, tokens := humanize.Dollars(board.Usage.Cost), humanize.Short(board.Usage.Tokens())
	if most := nearer(budget.MaxCost, budget.MaxSessionCost); most > 0 {
		cost += " of " + humanize.Dollars(most)
	}
	if budget.MaxTokens > 0 {
		tokens += " of " + humanize.Short(budget.MaxTokens)
	}
	facts := []string{cost, tokens + " tokens"}
	if board.State == pawl.MissionWorking {
		facts = append(facts, elapsed(b.now().Sub(board.Mission.Began)))
	}
	if tip := board.Mission.Tip; tip != "" {
		facts = append(facts, sanitize.Line(board.Mission.Branch)+" at "+humanize.Commit(tip))
	}
	return strings.Join(facts, " · ")
}

// nearer returns the lower of two limits; 0 means none.
func nearer(x, y pawl.Money) pawl.Money {
	if x == 0 || y > 0 && y < x {
		return y
	}
	return x
}

// end describes how a finished mission ended.
func (b *Board) end() (string, lipgloss.Style) {
	s, m := b.shared.Styles, b.mission.board
	switch {
	case m.Mission.Sealed != nil:
		line, _ := humanize.Mission(*m.Mission.Sealed)
		return line, s.Good
	case m.Mission.Blocked != nil:
		line, _ := humanize.Mission(*m.Mission.Blocked)
		return line, s.Warn
	case m.State == pawl.MissionStopped && m.Ended != nil:
		return sanitize.Line(strings.TrimSuffix(fmt.Sprintf("stopped: %s: %s", strings.ReplaceAll(string(m.Ended.Reason), "_", " "), m.Ended.Message), ": ")) + "; send a prompt to continue", s.Warn
	}
	return "", s.Muted
}

// list draws the visible tasks, under the names of their phases.
func (b *Board) list(width, height int) []string {
	s := b.shared.Styles
	tasks := b.tasks()
	if len(tasks) == 0 {
		return []string{s.Muted.Render("no plan yet")}
	}
	at, bar := b.at(tasks), 0
	var lines []string
	for i, t := range tasks {
		if i == 0 || tasks[i-1].Phase != t.Phase {
			lines = append(lines, s.Muted.Render(string(t.Phase)))
		}
		if i == at {
			bar = len(lines)
		}
		lines = append(lines, b.line(t, i == at, width))
		if last := b.last(t); i == at && last != "" {
			lines = append(lines, s.Muted.Render(ansi.Truncate("    "+sanitize.Line(last), width, "…")))
		}
	}
	b.listed = max(1, min(height, len(lines)))
	b.top = max(0, min(min(max(b.top, bar+2-b.listed), bar), len(lines)-b.listed))
	return lines[b.top : b.top+b.listed]
}

// line draws a task: its title and its worker.
func (b *Board) line(t pawl.TaskState, chosen bool, width int) string {
	s := b.shared.Styles
	right := fitted(b.facts(t), width-minTitle)
	title := ansi.Truncate(sanitize.Line(t.Task.ID+" "+t.Task.Title), max(4, width-4-ansi.StringWidth(right)), "…")
	gap := strings.Repeat(" ", max(1, width-2-ansi.StringWidth(title)-ansi.StringWidth(right)))
	if chosen {
		line := ansi.Truncate("› "+title+gap+right, width, "…")
		return s.Selected.Render(line + strings.Repeat(" ", max(0, width-ansi.StringWidth(line))))
	}
	return ansi.Truncate("  "+s.Text.Render(title)+gap+b.phaseTone(t.Phase).Render(right), width, "…")
}

// minTitle is the least width of a task's title, in cells.
const minTitle = 16

// fitted returns as many facts as fit: the last ones matter most.
func fitted(facts []string, width int) string {
	for len(facts) > 1 && ansi.StringWidth(strings.Join(facts, "  ")) > width {
		facts = facts[1:]
	}
	return strings.Join(facts, "  ")
}

func (b *Board) phaseTone(p pawl.TaskPhase) lipgloss.Style {
	s := b.shared.Styles
	switch p {
	case pawl.PhaseRunning:
		return s.Accent
	case pawl.PhaseMerged:
		return s.Good
	case pawl.PhaseReturned:
		return s.Warn
	case pawl.PhasePlanned, pawl.PhaseQueued, pawl.PhaseDropped:
	}
	return s.Muted
}

// facts returns the most important facts about a task.
func (b *Board) facts(t pawl.TaskState) []string {
	var facts []string
	if t.Why != "" && t.Phase != pawl.PhaseRunning {
		facts = append(facts, sanitize.Line(string(t.Why)))
	}
	if t.Attempt > 1 {
		facts = append(facts, fmt.Sprintf("attempt %d", t.Attempt))
	}
	switch t.Phase {
	case pawl.PhaseRunning:
		facts = append(facts, b.worker(t), elapsed(b.now().Sub(t.Began)))
	case pawl.PhaseMerged:
		facts = append(facts, elapsed(t.Ended.Sub(t.Began)), humanize.Commit(t.Commit))
	case pawl.PhasePlanned, pawl.PhaseQueued, pawl.PhaseReturned, pawl.PhaseDropped:
		if len(t.Task.After) > 0 && t.Attempt == 0 {
			facts = append(facts, "after "+sanitize.Line(strings.Join(t.Task.After, ", ")))
		}
	}
	return facts
}

// worker describes the worker of a task.
func (b *Board) worker(t pawl.TaskState) string {
	i := slices.IndexFunc(b.mission.board.Team, func(s pawl.Session) bool { return s.ID == t.Worker })
	switch w := b.watched; {
	case i < 0:
		return "starting"
	case w != nil && w.id == t.Worker:
		word, works := w.tail.state(b.mission.board.Team[i])
		if !works {
			word = "merging"
		}
		return word
	case b.mission.board.Team[i].State() == pawl.StateIdle && b.mission.board.Team[i].Turns > 0:
		return "merging"
	}
	return "working"
}

// last returns the last activity of a task's worker, or why the task was returned.
func (b *Board) last(t pawl.TaskState) string {
	if w := b.watched; w != nil && t.Phase == pawl.PhaseRunning && w.id == t.Worker {
		return w.tail.line
	}
	if t.Why != "" {
		line, _ := humanize.Mission(pawl.TaskReturned{Task: t.Task.ID, Why: t.Why, Text: t.Text})
		return line
	}
	return ""
}

// How much evidence is shown.
const (
	maxRuns   = 4
	maxFaults = 6
)

// evidence returns the results of gate, reviews and checks, newest first.
func (b *Board) evidence(width int) []string {
	m, s := b.mission.board.Mission, b.shared.Styles
	tones := map[humanize.Level]lipgloss.Style{humanize.Quiet: s.Muted, humanize.Good: s.Good, humanize.Warn: s.Warn, humanize.Bad: s.Bad}
	marks := map[humanize.Level]string{humanize.Quiet: "· ", humanize.Good: "✓ ", humanize.Warn: "! ", humanize.Bad: "✗ "}
	var lines []string
	say := func(body pawl.Body) {
		line, level := humanize.Mission(body)
		lines = append(lines, tones[level].Render(ansi.Truncate(marks[level]+line, width, "…")))
	}
	if m.Gate != nil {
		say(*m.Gate)
		for _, f := range m.Gate.Faults[:min(len(m.Gate.Faults), maxFaults)] {
			text := fmt.Sprintf("    %s: %s", strings.TrimSpace(f.Rule+" "+f.Item), f.Text)
			lines = append(lines, s.Text.Render(ansi.Truncate(sanitize.Line(text), width, "…")))
		}
	}
	for _, r := range slices.Backward(m.Reviews) {
		say(r)
	}
	for _, r := range slices.Backward(m.Runs[max(0, len(m.Runs)-maxRuns):]) {
		say(r)
	}
	return lines
}

func (b *Board) faults(width int) []string {
	var lines []string
	for _, fault := range []string{b.mission.fault, b.fault} {
		if fault != "" {
			lines = append(lines, b.shared.Styles.Bad.Render(ansi.Truncate(sanitize.Line(fault), width, "…")))
		}
	}
	return lines
}

// hints returns the key hints.
func (b *Board) hints(width int) []string {
	k := b.shared.Keys
	var hints []dialog.Hint
	if t := b.task(); t != nil && t.Worker != "" {
		hints = append(hints, dialog.Hint{Key: k.Key(keys.Choose), Does: "open its worker"})
	}
	return dialog.Hints(b.shared.Styles, width, true, append(hints, dialog.Hint{Key: k.Key(keys.Close), Does: "close"})...)
}
