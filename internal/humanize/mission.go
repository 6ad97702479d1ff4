package humanize

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Level is the importance of a line.
type Level int

// Levels, from routine to failure.
const (
	Quiet Level = iota
	Good
	Warn
	Bad
)

// Mission describes an event of a mission on one line, for all front ends.
// Untrusted text in it is sanitized. The line is "" for other events.
func Mission(b pawl.Body) (line string, level Level) {
	switch b := b.(type) {
	case pawl.MissionStarted:
		return "goal: " + part(b.Order.Goal), Quiet
	case pawl.Planned:
		return fmt.Sprintf("planned by the %s: %s", part(b.By), Plural(len(b.Plan.Tasks), "task")), Quiet
	case pawl.CriteriaSet:
		return criteriaLine(b.Criteria), Quiet
	case pawl.Delegated:
		return "queued: " + list(b.Tasks), Quiet
	case pawl.TaskStarted:
		return part(b.Task) + " started" + again(b.Attempt), Quiet
	case pawl.TaskMerged:
		if len(b.Outside) > 0 {
			return fmt.Sprintf("%s merged as %s, with files that it does not own: %s", part(b.Task), Commit(b.Commit), list(b.Outside)), Warn
		}
		return fmt.Sprintf("%s merged as %s", part(b.Task), Commit(b.Commit)), Good
	case pawl.TaskReturned:
		return returned(b)
	case pawl.CheckRan:
		return checked(b)
	case pawl.ReviewStarted:
		return strings.TrimSpace(fmt.Sprintf("review started, round %d %s", b.Round, model(b.Model))), Quiet
	case pawl.Reviewed:
		return faultsLine("review", b.Faults)
	case pawl.GateResult:
		return gated(b)
	case pawl.Sealed:
		return "sealed at " + Commit(b.Candidate) + ByReview(b), Good
	case pawl.Blocked:
		if b.State != "" { // the reason names the state
			return part(b.Reason), Warn
		}
		return "blocked: " + part(b.Reason), Warn
	default:
		return "", Quiet
	}
}

// Commit returns the abbreviated form of a commit hash.
func Commit(hash string) string {
	const short = 8
	runes := []rune(sanitize.Line(hash))
	return string(runes[:min(short, len(runes))])
}

// Limits of a line.
const (
	maxPart = 200 // characters of one item
	maxList = 5   // items of a list
)

// part returns the first line of an untrusted text, sanitized and cut.
func part(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(sanitize.Line(strings.TrimSpace(line)))
	switch {
	case len(runes) > maxPart:
		return string(runes[:maxPart-1]) + "…"
	case rest != "":
		return string(runes) + " …"
	}
	return string(runes)
}

// list joins the first maxList items, and adds the number of the others.
func list(items []string) string {
	more := ""
	if n := len(items) - maxList; n > 0 {
		items, more = items[:maxList], fmt.Sprintf(" and %d more", n)
	}
	var safe []string
	for _, item := range items {
		safe = append(safe, part(item))
	}
	return strings.Join(safe, ", ") + more
}

func criteriaLine(c pawl.Criteria) string {
	line := fmt.Sprintf("criteria set: %s, %s", Plural(len(c.Checks), "check"), Plural(len(c.Criteria), "criterion"))
	if c.Base != "" {
		line += ", base " + Commit(c.Base)
	}
	return line
}

// again returns the number of the attempt, or "" for the first one.
func again(attempt int) string {
	if attempt < 2 {
		return ""
	}
	return fmt.Sprintf(" (attempt %d)", attempt)
}

func model(name string) string {
	if name == "" {
		return ""
	}
	return "(" + part(name) + ")"
}

// returnReasons describes why tasks are returned.
var returnReasons = map[pawl.ReturnReason]string{
	pawl.ReturnConflict: "merge conflict", pawl.ReturnCheck: "check failed", pawl.ReturnProtected: "changed protected files", pawl.ReturnOutside: "changed files it does not own",
	pawl.ReturnRefused: "files could not be collected", pawl.ReturnFailed: "worker failed", pawl.ReturnStuck: "worker not responding",
}

func returned(b pawl.TaskReturned) (string, Level) {
	why := returnReasons[b.Why]
	if why == "" {
		why = part(string(b.Why))
	}
	line := fmt.Sprintf("%s returned: %s", part(b.Task), why)
	if text := part(b.Text); text != "" {
		line += ": " + text
	}
	if b.Why == pawl.ReturnStopped || b.Why == pawl.ReturnCanceled {
		return line, Quiet
	}
	return line, Warn
}

// trees describes the versions of the code that checks run on.
var trees = map[string]string{
	"base": "on the base", "candidate": "on the candidate", "head": "on the candidate", "old tests": "on the candidate with the old tests", "new tests": "on the base with the new tests",
}

// checked describes the result of a check. Runs on the base are neither good nor
// bad by themselves: only the gate can tell.
func checked(b pawl.CheckRan) (string, Level) {
	line := part(b.Check)
	if tree := trees[b.On]; tree != "" {
		line += " " + tree
	} else {
		line += " on " + part(b.On)
	}
	if b.Task != "" {
		line += " of " + part(b.Task)
	}
	line += ": " + Outcome(b.CheckRun)
	switch {
	case b.On == "base" || b.On == "new tests":
		return line, Quiet
	case b.OK():
		return line, Good
	}
	return line, Bad
}

// Outcome describes the result of a check, with the number of tests.
func Outcome(r pawl.CheckRun) string {
	var facts []string
	switch {
	case r.Fault != "":
		facts = append(facts, "did not finish: "+part(r.Fault))
	case r.OK():
		facts = append(facts, "passed")
	case r.Code < 0:
		facts = append(facts, "failed, killed by a signal")
	default:
		facts = append(facts, fmt.Sprintf("failed, exit code %d", r.Code))
	}
	if t := r.Tests; t != nil {
		facts = append(facts, Plural(t.Passed+t.Failed+t.Skipped, "test"))
		for _, n := range []struct {
			n    int
			what string
		}{{t.Failed, "failed"}, {t.Skipped, "skipped"}, {t.Broken, "could not run"}} {
			if n.n > 0 {
				facts = append(facts, fmt.Sprintf("%d %s", n.n, n.what))
			}
		}
	}
	return strings.Join(facts, ", ")
}

// gated returns a line with the verdict of the gate, or its faults.
func gated(b pawl.GateResult) (string, Level) {
	line, level := faultsLine("gate", b.Faults)
	if len(b.Faults) > 0 || b.Verdict == "" {
		return line, level
	}
	line += ": " + b.Verdict
	if b.Mutants > 0 {
		line += fmt.Sprintf(", %d of %s killed", b.Killed, Plural(b.Mutants, "mutant"))
	}
	return line, level
}

// ByReview says how many criteria only reviewers have confirmed, or nothing.
func ByReview(s pawl.Sealed) string {
	if s.Reviewed == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %s by review", s.Reviewed, Plural(s.Total, "criterion"))
}

// faultsLine returns a line with the faults that a review or the gate found.
func faultsLine(what string, faults []pawl.GateFault) (string, Level) {
	if len(faults) == 0 {
		return what + " passed", Good
	}
	var names []string
	for _, f := range faults {
		names = append(names, strings.TrimSpace(f.Rule+" "+f.Item))
	}
	return fmt.Sprintf("%s not passed, %s: %s", what, Plural(len(faults), "problem"), list(names)), Warn
}
