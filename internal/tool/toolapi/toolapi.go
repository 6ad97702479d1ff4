package toolapi

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// ReadOnly reports whether all accesses only read. Such a call can run in
// parallel with others, and again after a crash.
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
	Alone bool // no other call runs at the same time, even if it only reads

	// Means is set for a tool that calls other tools by name; it has none of
	// the functions below. It returns the tool that a call with this input is
	// for, and the input for it. It changes nothing. An error means that the
	// input is invalid.
	Means func(ctx context.Context, input json.RawMessage) (Tool, json.RawMessage, error)

	// Access returns the resources that the call would use. It only reads its
	// input. An error means that the input is invalid and is shown to the
	// model.
	Access func(ctx context.Context, call Call) ([]pawl.Access, error)

	// Preview returns the change that the call would make, as a diff for the
	// permission prompt. It changes nothing. An error means that the call
	// would fail. nil means that there is nothing to show.
	Preview func(ctx context.Context, call Call) (string, error)

	// Run executes the call. A failure that the model should see is a Result
	// with IsError; an error is converted to one. It returns within a second
	// after the context has ended.
	Run func(ctx context.Context, call Call) (pawl.Result, error)
}

// Spec is the description of a tool for the model.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Call is one call of a tool.
type Call struct {
	Session   pawl.SessionID
	Turn      int
	ID        pawl.CallID
	Input     json.RawMessage
	Dir       string                 // the session's workspace, absolute
	Mode      string                 // permission mode; see [pawl.Settings]
	Sandboxed bool                   // it was allowed in a sandbox only: without one, its command must not run
	Reads     func(path string) bool // whether a file of the workspace may be read; calls that read many files skip the others; nil means all
	Progress  func(text string)      // reports output while the call runs; never nil
	Caller    Session                // what the call may ask of its session
	Buffers   Buffers                // files that are open in an editor; nil means none
}

// ErrorResult returns a result for a failure that the model can read and act
// on.
func ErrorResult(text string) pawl.Result { return pawl.Result{Content: text, IsError: true} }
