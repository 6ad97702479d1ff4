// Package toolapi defines what a tool is, and what a tool call can ask of its session.
package toolapi

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// ReadOnly reports whether the accesses are all reads. Such a call can run
// concurrently with others, and again after a crash.
func ReadOnly(accesses []pawl.Access) bool {
	for _, a := range accesses {
		if a.Kind != pawl.AccessRead {
			return false
		}
	}
	return true
}

// Risk is how much harm a tool can do.
type Risk string

// The risks.
const (
	RiskSafe      Risk = "safe"
	RiskModerate  Risk = "moderate"
	RiskDangerous Risk = "dangerous"
)

// Tool is a function that the model can call.
type Tool struct {
	Spec
	Risk  Risk
	Alone bool // no other call runs concurrently, although it is read-only

	// Means returns the tool and input that a call stands for; for tools that call
	// others by name. It has no effect. An error means that the input is wrong. It
	// is nil for all other tools; if it is set, the functions below are nil, unless
	// some calls stand for themselves. Those are returned with the tool itself, and so
	// are calls that stand for a tool that is not available.
	Means func(ctx context.Context, input json.RawMessage) (Tool, json.RawMessage, error)

	// Access returns what the call would access. It only looks at the input. An
	// error means that the input is wrong; it is shown to the model.
	Access func(ctx context.Context, call Call) ([]pawl.Access, error)

	// Preview returns the changes that the call would make, as a diff for the
	// permission prompt. It has no effect. An error means that the call would fail.
	// nil means that there is nothing to show.
	Preview func(ctx context.Context, call Call) (string, error)

	// OnView reports whether a call can change nothing but a copy-on-write view of the
	// workspace, if there is one, so that the user can be asked about the changes; see
	// [Call.Review]. nil means that no call does.
	OnView func(call Call) bool

	// Run runs the call. A failure is a Result with IsError; an error is converted
	// to one. It returns within a second after the context ends.
	Run func(ctx context.Context, call Call) (pawl.Result, error)
}

// Spec describes a tool to the model.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Call is one run of a tool.
type Call struct {
	Session   pawl.SessionID
	Turn      int
	ID        pawl.CallID
	Input     json.RawMessage
	Dir       string                 // the working directory of the session, absolute
	Dirs      []string               // further project directories, their real paths
	Mode      string                 // the permission mode; see [pawl.Settings]
	Sandboxed bool                   // it was allowed in a sandbox only: without one, its command must not run
	Reads     func(path string) bool // reports whether a file of the workspace may be read, so that searches skip the others; nil means all
	Progress  func(text string)      // reports output while the call runs; never nil
	Notice    func(text string)      // shows a message to the user; nil shows none
	Caller    Session                // the session that made the call
	Buffers   Buffers                // unsaved files of an editor; nil means none

	// Review asks the user whether to apply the changes of the call; an error says why
	// not. If it is set, the call must not change anything without it: see [Tool.OnView].
	Review func(ctx context.Context, c Changes) error

	// Confirm is like Review for a call that is allowed, but not to replace an installed
	// skill. nil means that the user cannot be asked.
	Confirm func(ctx context.Context, c Changes) error
}

// ErrorResult returns a failure for the model.
func ErrorResult(text string) pawl.Result { return pawl.Result{Content: text, IsError: true} }
