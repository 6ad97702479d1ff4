package mission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// State is the state of a task in TODO.md.
type State string

// States of a task. A task without one is waiting.
const (
	Working  State = "working"
	Returned State = "returned" // could not be merged; a worker tries again
	Merged   State = "merged"
)

// Write formats a plan as a Markdown task list for people to read and edit. Checkboxes and "state" lines are
// output only: Read ignores them.
func Write(goal string, p pawl.Plan, states map[string]State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Mission: %s\n\n", oneLine(goal))
	b.WriteString("<!-- You can edit titles, details, order and lists; Pawl reads them. Only Pawl checks off tasks. -->\n")
	for _, t := range p.Tasks {
		b.WriteString("\n" + task(t, states[t.ID]))
	}
	return b.String()
}

func task(t pawl.Task, s State) string {
	tick := " "
	if s == Merged {
		tick = "x"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- [%s] **%s**: %s\n", tick, t.ID, t.Title)
	for line := range strings.SplitSeq(t.Detail, "\n") {
		if t.Detail != "" {
			b.WriteString(strings.TrimRight("  > "+line, " ") + "\n")
		}
	}
	entry := func(key, value string) { fmt.Fprintf(&b, "  - %s: %s\n", key, value) }
	if len(t.After) > 0 {
		entry("after", strings.Join(t.After, ", "))
	}
	for _, f := range t.Files {
		entry("owns", "`"+f+"`")
	}
	for _, a := range t.Accept {
		entry("accept", a)
	}
	if t.Size != "" {
		entry("size", t.Size)
	}
	if s != "" {
		entry("state", string(s))
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	todoTask  = regexp.MustCompile(`^[-*] \[[ xX]\] \*\*([^*]+)\*\*:? (.*)$`)
	todoEntry = regexp.MustCompile(`^\s+[-*] (after|owns|accept|size|state): (.*)$`)
	todoText  = regexp.MustCompile(`^\s+> ?(.*)$`)
)

// Read parses a plan that a person may have edited. A line that it does not understand is an error with its
// number, so that no edit is silently lost.
func Read(text string) (pawl.Plan, error) {
	var p pawl.Plan
	var lines []int // of the tasks
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "<!--") {
			continue
		}
		if m := todoTask.FindStringSubmatch(line); m != nil {
			p.Tasks, lines = append(p.Tasks, pawl.Task{ID: strings.TrimSpace(m[1]), Title: strings.TrimSpace(m[2])}), append(lines, i+1)
			continue
		}
		if len(p.Tasks) == 0 || !extend(&p.Tasks[len(p.Tasks)-1], line) {
			return p, fault.New(pawl.ErrInvalid, "line %d of the plan is neither a task (- [ ] **id**: title) nor part of one (  > detail, or   - after|owns|accept|size: …): %q", i+1, line)
		}
	}
	err := p.Check()
	if line := faultLine(p, lines); err != nil && line > 0 {
		err = fault.New(pawl.ErrInvalid, "line %d: %w", line, err)
	}
	return p, err
}

// faultLine returns the line of the first task that is invalid by itself, exists twice or comes after a task that does
// not exist, or 0.
func faultLine(p pawl.Plan, lines []int) int {
	known := map[string]bool{}
	for i, t := range p.Tasks {
		missing := slices.ContainsFunc(t.After, func(id string) bool { _, ok := p.Task(id); return !ok })
		alone := t
		alone.After = nil
		if known[t.ID] || missing || (pawl.Plan{Tasks: []pawl.Task{alone}}).Check() != nil {
			return lines[i]
		}
		known[t.ID] = true
	}
	return 0
}

// extend adds a line to a task, and reports whether it was understood.
func extend(t *pawl.Task, line string) bool {
	if m := todoText.FindStringSubmatch(line); m != nil {
		if t.Detail != "" {
			t.Detail += "\n"
		}
		t.Detail += m[1]
		return true
	}
	m := todoEntry.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	value := strings.TrimSpace(m[2])
	switch m[1] {
	case "after":
		for id := range strings.SplitSeq(value, ",") {
			if id = strings.TrimSpace(id); id != "" {
				t.After = append(t.After, id)
			}
		}
	case "owns":
		t.Files = append(t.Files, strings.Trim(value, "`"))
	case "accept":
		t.Accept = append(t.Accept, value)
	case "size":
		t.Size = value
	}
	return true
}
