package toolapi

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// ReadOnly reports whether nothing but reading is in the list. Such a call may
// run beside others, and again after a crash.
func ReadOnly(accesses []pawl.Access) bool {
	for _, a := range accesses {
		if a.Kind != pawl.AccessRead {
			return false
		}
	}
	return true
}

// Risk is how much harm a tool could do.
type Risk string

// The risks.
const (
	RiskSafe      Risk = "safe"
	RiskModerate  Risk = "moderate"
	RiskDangerous Risk = "dangerous"
)

// Tool is something that the model can call.
type Tool struct {
	Spec
	Risk  Risk
	Alone bool // no other call runs beside it, though it only reads

	// Means returns the tool that a call with this input is for, and that tool's
	// input: of a tool that calls others by their names. It changes nothing. An error
	// means that the input is wrong. nil, as of all others, means the tool itself;
	// else the tool has none of the functions below.
	Means func(ctx context.Context, input json.RawMessage) (Tool, json.RawMessage, error)

	// Access returns what the call would touch. It reads its input and touches
	// nothing. An error means that the input is wrong and is shown to the model.
	Access func(ctx context.Context, call Call) ([]pawl.Access, error)

	// Preview returns what the call would change, as a diff, for a person who is
	// asked whether it may. It changes nothing. An error means that the call
	// could not be made. nil means that there is nothing to show.
	Preview func(ctx context.Context, call Call) (string, error)

	// Run does the work. A failure that the model should see is a Result with
	// IsError; an error means the same and is turned into one. It returns
	// within a second of the context's end.
	Run func(ctx context.Context, call Call) (pawl.Result, error)
}

// Spec is what a model is told of a tool.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Call is one run of a tool, with the ids that an audit needs.
type Call struct {
	Session  pawl.SessionID
	Turn     int
	ID       pawl.CallID
	Input    json.RawMessage
	Dir      string                 // the session's workspace, absolute
	Mode     string                 // what it may do unasked; see [pawl.Settings]
	Boxed    bool                   // it was permitted for a sandbox: without one, its command must not run
	Reads    func(path string) bool // whether a file of the workspace may be read: a call that looks into many leaves others out; nil means all
	Progress func(text string)      // shows output as it comes; never nil
	Host     Session                // what the call may ask of its session
	Buffers  Buffers                // what of the workspace is open in an editor; nil means nothing
}

// ErrorResult is a failure that the model can read and act on.
func ErrorResult(text string) pawl.Result { return pawl.Result{Content: text, IsError: true} }
