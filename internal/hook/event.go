package hook

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// The reasons of session.end.
const (
	EndClear pawl.Reason = "clear"             // the user starts a new session
	EndExit  pawl.Reason = "prompt_input_exit" // the user exits
	EndOther pawl.Reason = "other"             // the work is done
)

// Event is an event as a hook sees it. Which fields are set depends on the
// point. A hook must not change it: it returns an [Outcome].
type Event struct {
	Point   Point
	Session pawl.SessionID
	Parent  pawl.SessionID // of a subagent
	Dir     string         // the workspace, absolute
	Turn    int
	Agent   string
	Mode    string

	Parts  pawl.Parts // the prompt: chat.message
	Steers bool       // it steers a running turn: chat.message

	// Of a call: tool.execute.before, tool.execute.after, permission.ask.
	Call   pawl.CallID
	Tool   string
	Input  json.RawMessage
	Access []pawl.Access // the accesses of the call, with real targets
	Result pawl.Result   // tool.execute.after

	// Touches returns the accesses of the call with another input. The
	// registry calls it after each change of the input, so that Access always
	// matches Input.
	Touches func(ctx context.Context, input json.RawMessage) ([]pawl.Access, error)

	Role *Role      // restrictions of the agent; nil means none: tool.execute.before
	Used []Resource // used parts of the turn's budgets: chat.message, tool.execute.before

	// Of a reply: assistant.done, subagent.stop.
	Reply  string // the model's last message
	Finish pawl.Finish

	// StopBlocks is how often in a row commands have continued this turn: the
	// caller counts the outcomes with [Outcome.StopBlocked].
	StopBlocks int

	Source       string      // session.start: startup, resume, clear, compact; notification: its kind
	Reason       pawl.Reason // why it ended: assistant.done, subagent.stop, session.end
	Trigger      string      // compaction: manual, auto
	Instructions string      // compaction: instructions of the user
	Message      string      // notification, permission.ask: the text for the user
}
