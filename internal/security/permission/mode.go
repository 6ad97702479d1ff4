// Package permission decides whether a call may run: allowed, asked for or
// denied. It is pure but for the file of grants. The sandbox is the boundary;
// what is read out of a command line here only makes for better questions.
package permission

import (
	"fmt"

	"github.com/pawl-dev/pawl"
)

// Mode says how much an agent may do without asking.
type Mode string

// The modes.
const (
	ModePlan  Mode = "plan"  // looks, changes nothing
	ModeAsk   Mode = "ask"   // asks before each change and command
	ModeGuard Mode = "guard" // asks before what leaves the sandbox
	ModeAuto  Mode = "auto"  // is refused what leaves the sandbox
	ModeYolo  Mode = "yolo"  // may do everything
)

// ParseMode returns the mode of that name.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(name); m {
	case ModePlan, ModeAsk, ModeGuard, ModeAuto, ModeYolo:
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q: use plan, ask, guard, auto or yolo: %w", name, pawl.ErrInvalid)
}

// Decision is what becomes of a call. The zero value counts as Deny.
type Decision string

// The decisions, from the loosest to the strictest.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
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
	case Ask:
		return 1
	default:
		return 2
	}
}

// class is what kind of thing an access is, as far as modes care.
type class int

const (
	classRead  class = iota // of the workspace
	classEdit               // of the workspace
	classRun                // a command in the sandbox
	classLeave              // leaves the sandbox
)

// stance is what a mode says of a class.
type stance struct {
	decision Decision
	firm     bool // no rule and no grant of the user's can loosen it
	why      string
}

// stance returns what the mode says. Auto refuses where guard asks: that is an
// ask which nobody is there to answer, so what the user has allowed before is
// allowed. The no of plan is firm.
func (m Mode) stance(c class) stance {
	switch {
	case m == ModeYolo, c == classRead && m.known():
		return stance{decision: Allow, why: fmt.Sprintf("the mode %s allows it", m)}
	case m == ModePlan && c == classRun:
		return stance{decision: Allow, why: "the mode plan lets it run where it can change nothing"}
	case m == ModePlan:
		return stance{decision: Deny, firm: true, why: "the mode plan changes nothing and does not leave the box"}
	case m == ModeAsk && c == classLeave:
		return stance{decision: Ask, why: "it leaves the box"}
	case m == ModeAsk:
		return stance{decision: Ask, why: "the mode ask asks before each change and command"}
	case m.known() && c != classLeave:
		return stance{decision: Allow, why: fmt.Sprintf("the mode %s allows it", m)}
	case m == ModeGuard:
		return stance{decision: Ask, why: "it leaves the box"}
	case m == ModeAuto:
		return stance{decision: Deny, why: "the mode auto refuses what leaves the box"}
	default:
		return stance{decision: Deny, firm: true, why: fmt.Sprintf("the mode %q is unknown", m)}
	}
}

// closed is the stance on what cannot be judged, or must never pass unseen: no
// rule, grant or mode allows it.
func (m Mode) closed(why string) stance {
	s := stance{decision: Deny, firm: true, why: why}
	if m == ModeAsk || m == ModeGuard || m == ModeYolo {
		s.decision = Ask
	}
	return s
}

func (m Mode) known() bool {
	_, err := ParseMode(string(m))
	return err == nil
}
