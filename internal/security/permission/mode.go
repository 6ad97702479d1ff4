// Package permission decides whether a tool call is allowed, denied or needs a
// person's approval, by permission mode, rules and grants. It does no I/O except
// for the file of grants. The sandbox is the security boundary: analyzing command
// lines only makes for better permission prompts.
package permission

import (
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Mode is the permission mode: how much an agent may do without asking.
type Mode string

// The permission modes.
const (
	ModePlan  Mode = "plan"  // reads only
	ModeAsk   Mode = "ask"   // asks before each change and command; for commands see Review
	ModeGuard Mode = "guard" // asks before what leaves the sandbox
	ModeAuto  Mode = "auto"  // denies what leaves the sandbox
	ModeYolo  Mode = "yolo"  // allows everything, without a sandbox
)

// ParseMode returns the mode of that name.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(name); m {
	case ModePlan, ModeAsk, ModeGuard, ModeAuto, ModeYolo:
		return m, nil
	}
	return "", fault.New(pawl.ErrInvalid, "unknown mode %q: use plan, ask, guard, auto or yolo", name)
}

// Decision tells whether a call may run. The zero value counts as Deny.
type Decision string

// The decisions, from the loosest to the strictest.
const (
	Allow Decision = "allow"
	// Review lets a command run on a copy-on-write view and asks before its changes are
	// applied. Only the mode decides so, not a rule.
	Review Decision = "review"
	Ask    Decision = "ask"
	Deny   Decision = "deny"
)

// Stricter returns the stricter of two decisions.
func Stricter(a, b Decision) Decision {
	if a.rank() >= b.rank() {
		return a
	}
	return b
}

func (d Decision) rank() int {
	switch d {
	case Allow:
		return 0
	case Review:
		return 1
	case Ask:
		return 2
	default:
		return 3
	}
}

// class groups accesses that modes treat alike.
type class int

const (
	classRead  class = iota // of the workspace
	classEdit               // of the workspace
	classRun                // a command in the sandbox
	classLeave              // leaves the sandbox
)

// modeDecision is the decision of a mode on a class.
type modeDecision struct {
	decision Decision
	firm     bool // no allow rule and no grant of the user can loosen it
	why      string
}

// decide returns the mode's decision on a class. Auto denies where guard asks, but
// not firmly: what the user has allowed before stays allowed. A denial of plan
// mode is firm.
func (m Mode) decide(c class) modeDecision {
	switch {
	case m == ModeYolo, c == classRead && m.known():
		return modeDecision{decision: Allow, why: fmt.Sprintf("allowed in %s mode", m)}
	case m == ModePlan && c == classRun:
		return modeDecision{decision: Allow, why: "plan mode runs it in a read-only sandbox"}
	case m == ModePlan:
		return modeDecision{decision: Deny, firm: true, why: "plan mode changes nothing and does not leave the sandbox"}
	case m == ModeAsk && c == classLeave:
		return modeDecision{decision: Ask, why: "it leaves the sandbox"}
	case m == ModeAsk:
		return modeDecision{decision: Ask, why: "ask mode confirms every change and command"}
	case m.known() && c != classLeave:
		return modeDecision{decision: Allow, why: fmt.Sprintf("allowed in %s mode", m)}
	case m == ModeGuard:
		return modeDecision{decision: Ask, why: "it leaves the sandbox"}
	case m == ModeAuto:
		return modeDecision{decision: Deny, why: "auto mode denies what leaves the sandbox"}
	default:
		return modeDecision{decision: Deny, firm: true, why: fmt.Sprintf("unknown mode %q", m)}
	}
}

// closed returns the decision on what cannot be analyzed, or always needs approval:
// no rule, grant or mode allows it.
func (m Mode) closed(why string) modeDecision {
	s := modeDecision{decision: Deny, firm: true, why: why}
	if m == ModeAsk || m == ModeGuard || m == ModeYolo {
		s.decision = Ask
	}
	return s
}

func (m Mode) known() bool {
	_, err := ParseMode(string(m))
	return err == nil
}
