package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/protect"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// The risks of a permission prompt.
const (
	riskLow    = "low"    // reads files
	riskMedium = "medium" // everything else
	riskHigh   = "high"   // deletes, leaves the sandbox, writes a protected path, or cannot be analyzed
)

// maxPromptDiff limits the copy of a diff in a prompt, in bytes. The text of the prompt has all of it.
const maxPromptDiff = 32 << 10

// Prompt returns the permission prompt for a call. Its Text is that of [Show].
func Prompt(c Call, v Verdict) pawl.Ask {
	return pawl.Ask{
		Kind: pawl.AskPermission, Title: promptTitle(c, v), Command: command(c), Diff: promptDiff(c.Change),
		Reason: reason(v), Risk: risk(c, v), Text: Show(c, v),
	}
}

// PromptChanges returns the prompt that asks whether to apply the changes of a command that has run, or
// to install skills. Its Text is that of [ShowChanges].
func PromptChanges(c Call, v Verdict, changes toolapi.Changes) pawl.Ask {
	ask := pawl.Ask{
		Kind: pawl.AskPermission, Ran: true, Title: "Apply changes of command", Command: command(c), Diff: promptDiff(changes.Diff),
		Reason: sanitize.Line(changes.Summary), Risk: risk(c, v), Text: ShowChanges(c, v, changes),
	}
	if slices.ContainsFunc(c.Access, isSkill) {
		ask.Title, ask.Ran = "Install skills", false
	}
	return ask
}

func isSkill(a pawl.Access) bool { return a.Kind == pawl.AccessSkill }

// promptTitle returns what the call would do, on one line.
func promptTitle(c Call, v Verdict) string {
	has := func(kind pawl.AccessKind) bool {
		return slices.ContainsFunc(c.Access, func(a pawl.Access) bool { return a.Kind == kind })
	}
	asked := slices.DeleteFunc(withoutRepeats(v.Findings), func(f Finding) bool { return f.Decision == Allow })
	writes, reads, hosts := ofKind(asked, pawl.AccessWrite), ofKind(asked, pawl.AccessRead), ofKind(asked, pawl.AccessNet)
	switch {
	case has(pawl.AccessEscape):
		return "Run command outside the sandbox"
	case has(pawl.AccessExec):
		return "Run command"
	case len(writes) > 0:
		return "Edit " + oneOrMore(writes, "file")
	case len(hosts) > 0:
		return "Connect to " + oneOrMore(hosts, "host")
	case len(reads) > 0:
		return "Read " + oneOrMore(reads, "file")
	default:
		return "Use " + sanitize.Line(c.Tool)
	}
}

// oneOrMore returns the name of the only finding, or how many there are.
func oneOrMore(findings []Finding, noun string) string {
	if len(findings) != 1 {
		return fmt.Sprintf("%d %ss", len(findings), noun)
	}
	f := findings[0]
	if f.Path != "" {
		return cut(sanitize.Line(path.Base(f.Path)))
	}
	return cut(sanitize.Line(f.Access.Target))
}

// command returns the command that a call runs, or "".
func command(c Call) string {
	for _, a := range c.Access {
		if a.Kind == pawl.AccessExec || a.Kind == pawl.AccessEscape {
			return a.Target
		}
	}
	return ""
}

func promptDiff(diff string) string {
	if len(diff) > maxPromptDiff {
		return ""
	}
	return diff
}

// reason returns in a few sentences why the call needs approval.
func reason(v Verdict) string {
	var list []string
	first := ""
	for _, f := range v.Findings {
		if f.Decision != v.Decision {
			continue
		}
		if f.Segment != nil && f.Segment.deletes {
			first = "Deletes files. "
		}
		list = append(list, sentence(f.Why))
	}
	if len(list) == 0 {
		list = append(list, sentence(v.Why))
	}
	slices.Sort(list)
	return first + strings.Join(slices.Compact(list), " ")
}

// risk returns how much harm the call could do.
func risk(c Call, v Verdict) string {
	level := riskLow
	for _, f := range v.Findings {
		switch {
		case f.Decision == Allow:
		case f.dangerous():
			return riskHigh
		case f.Access.Kind != pawl.AccessRead:
			level = riskMedium
		}
	}
	if c.Risk == toolapi.RiskDangerous && level == riskLow {
		return riskMedium
	}
	return level
}

// dangerous reports whether an access deletes, leaves the sandbox, writes a protected path, or cannot be
// analyzed.
func (f Finding) dangerous() bool {
	switch {
	case f.Access.Kind == pawl.AccessEscape:
		return true
	case f.Segment != nil:
		return f.Segment.deletes || len(f.Segment.Doubts) > 0 || slices.ContainsFunc(f.Segment.Writes, protect.Protected)
	case f.Access.Kind == pawl.AccessExec:
		return true // not even split into segments
	default:
		return f.Access.Kind == pawl.AccessWrite && protect.Protected(f.Path)
	}
}
