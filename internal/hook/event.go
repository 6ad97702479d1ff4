package hook

import (
	"context"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// Why a session ends, in the words of session.end.
const (
	EndClear pawl.Reason = "clear"             // the person begins a new one
	EndExit  pawl.Reason = "prompt_input_exit" // the person leaves
	EndOther pawl.Reason = "other"             // its work is done, and nobody stays
)

// Event is what has happened, as a hook sees it. Which fields are set depends
// on the point. A hook changes nothing in it: it returns an [Outcome].
type Event struct {
	Point   Point
	Session pawl.SessionID
	Parent  pawl.SessionID // of a child session
	Dir     string         // the workspace, absolute
	Turn    int
	Agent   string
	Mode    string

	Parts  pawl.Parts // the prompt: chat.message
	Steers bool       // it steers a turn that is at work: chat.message

	// Of a call: tool.execute.before, tool.execute.after, permission.ask.
	Call   pawl.CallID
	Tool   string
	Input  json.RawMessage
	Access []pawl.Access // what it would touch, with real targets
	Result pawl.Result   // tool.execute.after

	// Touches returns what the call would touch with another input. A registry asks
	// it after each change of the input, so that Access is never an older input's.
	Touches func(ctx context.Context, input json.RawMessage) ([]pawl.Access, error)

	Role *Role      // what the agent is held to; nil means nothing: tool.execute.before
	Used []Resource // what is gone of the turn's budgets: chat.message, tool.execute.before

	// Of a reply: assistant.done, subagent.stop.
	Reply  string // the model's last words
	Finish pawl.Finish

	// StopBlocks is how often in a row commands have kept this turn going: the
	// caller counts the outcomes with [Outcome.StopBlocked].
	StopBlocks int

	Source       string      // session.start: startup, resume, clear, compact; notification: its kind
	Reason       pawl.Reason // why it ended: assistant.done, subagent.stop, session.end
	Trigger      string      // compaction: manual, auto
	Instructions string      // compaction: what a person asked for
	Message      string      // notification, permission.ask: what a person is told
}
