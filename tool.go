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
	Risk  Risk
	Alone bool // no other call runs beside it, though it only reads

	// Means returns the tool that a call with this input is for, and that tool's
	// input: of a tool that calls others by their names. It changes nothing. An error
	// means that the input is wrong. nil, as of all others, means the tool itself;
	// else the tool has none of the functions below.
	Means func(ctx context.Context, input json.RawMessage) (Tool, json.RawMessage, error)

	// Access returns what the call would touch. It reads its input and touches
	// nothing. An error means that the input is wrong and is shown to the model.
	Access func(ctx context.Context, call Call) ([]Access, error)

	// Preview returns what the call would change, as a diff, for a person who is
	// asked whether it may. It changes nothing. An error means that the call
	// could not be made. nil means that there is nothing to show.
	Preview func(ctx context.Context, call Call) (string, error)

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
	Dir      string                 // the session's workspace, absolute
	Mode     string                 // what it may do unasked; see [Settings]
	Boxed    bool                   // it was permitted for a sandbox: without one, its command must not run
	Reads    func(path string) bool // whether a file of the workspace may be read: a call that looks into many leaves others out; nil means all
	Progress func(text string)      // shows output as it comes; never nil
	Host     ToolSession            // what the call may ask of its session
	Buffers  Buffers                // what of the workspace is open in an editor; nil means nothing
}

// ToolSession is the session as a tool call may use it. Everything done through
// it is in the log, so a call that runs again finds what it did before.
type ToolSession interface {
	// Seen returns the [Result.Seen] of the file at path: its content as the
	// model last knew it. "" means that it never did.
	Seen(path string) string

	// Todos returns the session's list; SetTodos replaces it.
	Todos() []Todo
	SetTodos(ctx context.Context, call CallID, todos []Todo) error

	// Ask puts an ask to a person and waits for what comes of it. Asked again
	// by the same call, it is the same ask. The error is ctx's, or the log's.
	Ask(ctx context.Context, call CallID, a Ask) (Answer, error)

	// SetMode changes how the rest of the turn may act.
	SetMode(ctx context.Context, call CallID, mode string) error

	// Spawn has a subagent session work on an errand and waits for its end, unless
	// it is a background one. Spawned again by the same call, it is the same subagent.
	Spawn(ctx context.Context, call CallID, e SubagentTask) (Child, error)

	// MissionJournal returns what mission control needs of the session, nil unless it commands
	// a mission.
	Bridge() MissionJournal
}

// SubagentTask is the work that a subagent session is spawned for.
type SubagentTask struct {
	Agent      string
	Title      string
	Prompt     string
	Background bool // it is not waited for: what came of it is injected later
}

// Subagent is a subagent session and what has come of it.
type Child struct {
	Session SessionID
	Done    bool // false: it works in the background
	End     TurnFinished
	Text    string   // its last words
	Changed []string // the files that it wrote to, apart from what its commands did
}

// Result is what a tool gives back: Content and Files for the model, Display and Meta for people.
type Result struct {
	Content string            `json:"content"`
	Files   []File            `json:"files,omitempty"` // images and documents
	Display Parts             `json:"display,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"` // e.g. exit_code
	IsError bool              `json:"is_error,omitempty"`
	Spill   *Blob             `json:"spill,omitempty"` // the whole content, when Content is only its head and tail
	Seen    map[string]string `json:"seen,omitempty"`  // files whose content the model knows now: path to hash; "" if it is gone
}

// ErrorResult is a failure that the model can read and act on.
func ErrorResult(text string) Result { return Result{Content: text, IsError: true} }

// CallStatus says how a call came to its result.
type CallStatus string

// The statuses.
const (
	CallDone     CallStatus = "done"     // it ran; the result may be an error
	CallRefused  CallStatus = "refused"  // it was not run: no such tool, wrong input, the last step
	CallDenied   CallStatus = "denied"   // it was not run: it is not permitted, or a person declined
	CallCanceled CallStatus = "canceled" // it was stopped, or never begun, because the turn was canceled
	CallUnknown  CallStatus = "unknown"  // pawl died while it ran; nobody knows how far it got
)
