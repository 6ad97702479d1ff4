package permission

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Policy is the permission mode with the rules and grants that apply to a call.
type Policy struct {
	Mode      Mode
	Rules     []Rule   // the user's and the project's
	Grants    []Grant  // of any directory and session: only those of this one count
	Sandboxed bool     // commands run in a sandbox; in plan mode in one that cannot write
	Direct    bool     // but they write to the workspace itself, which has no view
	Review    bool     // a command in the foreground can change nothing but views, which are applied when it has ended
	Absent    bool     // nobody can be asked: what would be asked is denied
	Dir       string   // the workspace, its real path
	Dirs      []string // further project directories, their real paths
	Home      string   // the user's home directory; "" means that ~ is not known
	Session   pawl.SessionID

	// TrustedOwners are the owners, as host/owner, whose skills are installed without asking.
	TrustedOwners []string
}

// Call is a tool call to decide on.
type Call struct {
	Tool   string
	Risk   toolapi.Risk
	Access []pawl.Access   // with real targets; a path that was given through links is named in both spellings, as two accesses
	Input  json.RawMessage // what the model wrote: for [Fingerprint]
	Change string          // what it would change, as a diff: for [Show]

	// View means that the call runs a command on a view, if there is one: it neither
	// runs in the background nor leaves the sandbox.
	View bool
}

// Verdict is the decision on a call, with its reasons.
type Verdict struct {
	Decision Decision  `json:"decision"`
	Why      string    `json:"why"`               // for people
	Offer    []Rule    `json:"offer,omitempty"`   // what "always" would add, exactly; nil if it may not be offered
	Findings []Finding `json:"findings"`          // one for each access, or segment of a command
	Ignored  []Rule    `json:"ignored,omitempty"` // the project's rules that would have allowed something of it: they may only tighten
}

// Finding is the decision on one access, or on one segment of a command.
type Finding struct {
	Access   pawl.Access `json:"access"`            // of kind "" it is the call itself
	Segment  *Segment    `json:"segment,omitempty"` // of a command that could be read
	Path     string      `json:"path,omitempty"`    // of a path: all of it
	Decision Decision    `json:"decision"`
	Why      string      `json:"why"`

	offer *Rule
}

// Decide decides whether a call may run. The strictest decision over all accesses,
// segments, rules and the mode wins: deny, then ask, then allow. For what they
// match, the user's allow rules and grants turn an ask of the mode into allow, and
// grants also an ask of a rule. Neither overrides a deny rule, a denial of plan
// mode, a protected name, or an access that cannot be analyzed. Decide does no I/O.
func Decide(p Policy, c Call) Verdict {
	j := newDecider(p, c)
	for _, a := range c.Access {
		j.access(a)
	}
	if len(c.Access) == 0 || c.Risk == toolapi.RiskModerate && !slices.ContainsFunc(c.Access, leaves) {
		j.call()
	}
	return j.verdict()
}

// leaves reports whether an access by itself leaves the sandbox, so that the risk
// of its tool need not be decided on too.
func leaves(a pawl.Access) bool { return a.Kind == pawl.AccessNet || a.Kind == pawl.AccessMCP }

// verdict returns the strictest of the findings.
func (j *decider) verdict() Verdict {
	v := Verdict{Decision: Allow, Findings: j.findings, Ignored: j.matched}
	for _, f := range j.findings {
		if f.Decision.rank() > v.Decision.rank() || v.Why == "" {
			v.Decision, v.Why = Stricter(v.Decision, f.Decision), f.describe()
		}
	}
	if v.Decision == Ask || v.Decision == Review && !j.Absent { // hooks allow only what is offered
		v.Offer = offers(j.findings)
	}
	return v
}

// maxWhat bounds the characters of a target that a reason repeats.
const maxWhat = 120

// describe returns the finding on one line.
func (f Finding) describe() string {
	return cut(f.What()) + ": " + f.Why
}

// cut returns at most maxWhat characters of a text.
func cut(text string) string {
	if runes := []rune(text); len(runes) > maxWhat {
		return string(runes[:maxWhat]) + "…"
	}
	return text
}

// What returns the subject of the finding on one line, sanitized.
func (f Finding) What() string {
	switch {
	case f.Segment != nil:
		return sanitize.Line(f.Segment.Text)
	case f.Path != "":
		return fmt.Sprintf("%s %s", f.Access.Kind, sanitize.Line(f.Path))
	case f.Access.Kind == "":
		return sanitize.Line(f.Access.Target)
	default:
		return sanitize.Line(f.Access.String())
	}
}
