package pawl

import (
	"context"
	"encoding/json"
)

// CallID names a tool call; unique within its session.
type CallID string

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
	ToolSpec
	Risk Risk

	// Access returns what the call would touch. It reads its input and touches
	// nothing. An error means that the input is wrong and is shown to the model.
	Access func(ctx context.Context, call Call) ([]Access, error)

	// Run does the work. A failure that the model should see is a Result with
	// IsError; an error means the same and is turned into one. It returns
	// within a second of the context's end.
	Run func(ctx context.Context, call Call) (Result, error)
}

// ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Call is one run of a tool, with the ids that an audit needs.
type Call struct {
	Session  SessionID
	Turn     int
	ID       CallID
	Input    json.RawMessage
	Dir      string            // the session's workspace, absolute
	Progress func(text string) // shows output as it comes; never nil
}

// Result is what a tool gives back: Content for the model, Display and Meta for people.
type Result struct {
	Content string            `json:"content"`
	Display Parts             `json:"display,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"` // e.g. exit_code
	IsError bool              `json:"is_error,omitempty"`
	Spill   *Blob             `json:"spill,omitempty"` // the whole content, when Content is only its head and tail
}

// ErrorResult is a failure that the model can read and act on.
func ErrorResult(text string) Result { return Result{Content: text, IsError: true} }

// CallStatus says how a call came to its result.
type CallStatus string

// The statuses.
const (
	CallDone     CallStatus = "done"     // it ran; the result may be an error
	CallRefused  CallStatus = "refused"  // it was not run: no such tool, wrong input, not permitted
	CallCanceled CallStatus = "canceled" // it was stopped, or never begun, because the turn was canceled
	CallUnknown  CallStatus = "unknown"  // pawl died while it ran; nobody knows how far it got
)
