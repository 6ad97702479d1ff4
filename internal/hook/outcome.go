package hook

import (
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// Outcome is the result of one hook, or of all hooks, for an event.
type Outcome struct {
	// Block refuses the prompt or the call. Reason says why, and By which
	// hook.
	Block  bool
	Reason string
	By     string

	// Stop ends the turn, whatever else was decided.
	Stop       bool
	StopReason string

	// Input replaces the call's input; nil keeps it. The caller validates it
	// again: against the schema, and for permission.
	Input json.RawMessage

	Parts  pawl.Parts   // replaces the prompt; nil keeps it
	Result *pawl.Result // replaces the result; nil keeps it

	// Decision is a proposal, or "": see [Ruling]. Deny comes with Block.
	Decision Decision

	Context  []string // for the model
	Messages []string // for the user

	// Continue continues the turn, with Injection as the next text for the
	// model. StopBlocked says that a command requested it.
	Continue    bool
	Injection   string
	StopBlocked bool

	Faults []Fault
}

// Fault is a problem with a hook, for the user.
type Fault struct {
	Hook string // its name, or where it is configured
	Text string // what is wrong, and what to do
}

func (f Fault) String() string { return "hook " + f.Hook + ": " + f.Text }

// Decision is a hook's decision on a call. The values are those of permission
// rules.
type Decision string

// The decisions, from the loosest to the strictest.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// rank orders decisions. "" is below Allow; an unknown one counts as Deny.
func (d Decision) rank() int {
	switch d {
	case "":
		return 0
	case Allow:
		return 1
	case Ask:
		return 2
	default:
		return 3
	}
}

func stricter(a, b Decision) Decision {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Ruling is the decision of the rules and the mode on a call, without hooks.
type Ruling struct {
	Decision Decision
	Firm     bool // no saved answer and no hook can loosen it
}

// With returns the decision on the call after a hook's proposal. Hooks can
// always tighten. Allow only answers an ask that is not firm; a deny stays.
func (r Ruling) With(proposed Decision) Decision {
	if proposed == Allow && r.Decision == Ask && !r.Firm {
		return Allow
	}
	d := stricter(r.Decision, proposed)
	if r.Decision == "" || d.rank() == Deny.rank() {
		return Deny // also if there is no decision, or an unknown one
	}
	return d
}
