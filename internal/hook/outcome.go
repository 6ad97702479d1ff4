package hook

import (
	"encoding/json"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/weak"
)

// Outcome is what hooks make of an event: one hook's, or that of all of them.
type Outcome struct {
	// Block refuses: the prompt, or the call. Reason says why, and By which hook.
	Block  bool
	Reason string
	By     string

	// Stop ends the turn, whatever else was decided.
	Stop       bool
	StopReason string

	// Input takes the place of the call's input; nil leaves it. The caller
	// checks it again: against the schema, and for permission.
	Input json.RawMessage

	Parts  pawl.Parts   // takes the place of the prompt; nil leaves it
	Result *pawl.Result // takes the place of the result; nil leaves it

	// Decision is a proposal, or "": see [Ruling]. Deny comes with Block.
	Decision Decision

	Context  []string // for the model
	Messages []string // for the person

	// Continue keeps the turn going, with Injection as the next thing that the
	// model reads. StopBlocked says that a command wanted it.
	Continue    bool
	Injection   string
	StopBlocked bool

	Faults []Fault
}

// Fault is something that went wrong with a hook, for the person.
type Fault struct {
	Hook string // its name, or where it is configured
	Text string // what is wrong, and what to do
}

func (f Fault) String() string { return "hook " + f.Hook + ": " + f.Text }

// Decision is what a hook would have become of a call. The words are those of
// permission rules.
type Decision string

// The decisions, from the loosest to the strictest.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// rank orders decisions. None at all is below Allow; an unknown one is as Deny.
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

// Ruling is what the rules and the mode make of a call, without hooks.
type Ruling struct {
	Decision Decision
	Firm     bool // no grant may loosen it, and so no hook
}

// With returns what becomes of the call once hooks have proposed something. They
// can always tighten. Allow answers an ask that is not firm, and nothing else: a
// deny stays one.
func (r Ruling) With(proposed Decision) Decision {
	if proposed == Allow && r.Decision == Ask && !r.Firm {
		return Allow
	}
	if proposed == Allow && weak.On("hook.deny") {
		return Allow
	}
	d := stricter(r.Decision, proposed)
	if r.Decision == "" || d.rank() == Deny.rank() {
		return Deny // also if nobody has ruled, or it is no known word
	}
	return d
}
