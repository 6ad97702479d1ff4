package humanize

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// MissionDetail returns what Mission leaves out of an event, on lines of their own
// and sanitized, or "" if that is nothing.
func MissionDetail(b pawl.Body) string {
	var lines []string
	switch b := b.(type) {
	case pawl.MissionStarted:
		lines = append(lines, beyond(b.Order.Goal)...)
		lines = append(lines, criterionLines(b.Order.Criteria)...)
	case pawl.Planned:
		for _, t := range b.Plan.Tasks {
			lines = append(lines, taskLine(t))
		}
	case pawl.CriteriaSet:
		for _, c := range b.Criteria.Checks {
			lines = append(lines, c.ID+": "+c.String())
		}
		lines = append(lines, criterionLines(b.Criteria.Criteria)...)
	case pawl.TaskReturned:
		lines = beyond(b.Text)
	case pawl.CheckRan:
		if !b.OK() && b.Tail != "" {
			lines = append(lines, b.Tail)
		}
	case pawl.Reviewed:
		lines = append(faultLines(b.Faults), judgmentLines(b.Holds)...)
	case pawl.GateResult:
		lines = faultLines(b.Faults)
		for _, f := range b.Notes {
			lines = append(lines, "note: "+faultLine(f))
		}
	case pawl.Blocked:
		lines = beyond(b.Reason)
	default: // nothing beyond the line
	}
	return strings.TrimRight(sanitize.Text(strings.Join(lines, "\n")), "\n")
}

// beyond returns a text that is too long for one line, or nil if it is not.
func beyond(text string) []string {
	if text = strings.TrimSpace(text); strings.Contains(text, "\n") || len([]rune(text)) > maxPart {
		return []string{text}
	}
	return nil
}

func taskLine(t pawl.Task) string {
	line := t.ID + ": " + t.Title
	if len(t.After) > 0 {
		line += ", after " + strings.Join(t.After, ", ")
	}
	return line
}

func criterionLines(list []pawl.Criterion) []string {
	var lines []string
	for _, c := range list {
		lines = append(lines, c.ID+": "+c.Text)
	}
	return lines
}

func judgmentLines(list []pawl.Judgment) []string {
	var lines []string
	for _, j := range list {
		word := "met"
		if !j.Holds {
			word = "not met"
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", j.ID, word, j.Why))
	}
	return lines
}

func faultLines(list []pawl.GateFault) []string {
	var lines []string
	for _, f := range list {
		lines = append(lines, faultLine(f))
	}
	return lines
}

func faultLine(f pawl.GateFault) string {
	return strings.TrimSpace(f.Rule+" "+f.Item) + ": " + f.Text
}
