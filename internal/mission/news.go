package mission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

const noPlan = "The mission is not done: there is no plan yet. Call plan, or delegate to a planner. If a person is needed, call block with the reason."

// news lists what the Commander has not seen yet.
func news(m *pawl.Mission) string {
	var lines []string
	for _, id := range m.News {
		t := m.Task(id)
		if t == nil {
			continue
		}
		switch t.Phase {
		case pawl.PhaseMerged:
			line := fmt.Sprintf("- %s is merged as %.12s.", id, t.Commit)
			if len(t.Outside) > 0 {
				line += " It also changed files that it does not own: see that this fits the other tasks.\n" + quoted(strings.Join(t.Outside, "\n"))
			}
			lines = append(lines, line)
		case pawl.PhaseReturned:
			lines = append(lines, fmt.Sprintf("- %s came back (%s) after %d attempts and waits for you: plan it anew, or drop it.\n%s", id, t.Why, t.Attempt, quoted(t.Text)))
		case pawl.PhaseQueued, pawl.PhaseRunning:
			lines = append(lines, fmt.Sprintf("- %s came back (%s) and is tried again with the evidence.", id, t.Why))
		case pawl.PhasePlanned, pawl.PhaseDropped: // not news any more
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "News of the mission:\n" + strings.Join(lines, "\n")
}

// quoted marks text of workers and programs as untrusted, and truncates it.
func quoted(text string) string { return sanitize.Untrusted("mission", cut(text, 2000)) }

func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// openWork describes the open work, after the Commander has ended its reply.
func openWork(m *pawl.Mission) string {
	open := m.Open()
	var b strings.Builder
	b.WriteString(paragraphs(news(m), "The mission is not done."))
	if len(open) == 0 {
		b.WriteString(" All tasks are merged: call seal, or plan what is missing.")
		if m.Gate != nil && len(m.Gate.Faults) > 0 {
			b.WriteString(" The gate has found faults in what is merged: fix them first.")
		}
		return b.String()
	}
	b.WriteString(" What is open:\n")
	for _, t := range open {
		fmt.Fprintf(&b, "- %s: %s%s\n", t.Task.ID, t.Phase, waits(m, t))
	}
	b.WriteString("Delegate planned tasks, replan returned ones, then end your reply: you receive a message when there is something to decide. If a person is needed, call block with the reason.")
	return b.String()
}

// waits returns which tasks a task waits for.
func waits(m *pawl.Mission, t pawl.TaskState) string {
	before := slices.DeleteFunc(slices.Clone(t.Task.After), func(id string) bool {
		b := m.Task(id)
		return b != nil && b.Phase == pawl.PhaseMerged
	})
	if len(before) == 0 {
		return ""
	}
	return ", after " + strings.Join(before, ", ")
}
