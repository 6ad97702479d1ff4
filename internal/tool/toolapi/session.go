package toolapi

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// Buffers gives access to the files of a workspace that are open in the user's
// editor.
type Buffers interface {
	// Unsaved returns the editor's text of a file if it differs from the disk; then
	// ok is true. It takes a few seconds at most. An error means that the editor
	// did not answer; then use the file on disk.
	Unsaved(ctx context.Context, f OnDisk) (text string, ok bool, err error)
}

// OnDisk is a text file as it is on disk.
type OnDisk struct {
	Path    string // absolute
	Text    string
	Changed time.Time // modification time
}

// Session is the session of a tool call, as far as the call may use it. Everything
// is recorded in the log, so that a repeated call finds what it did before.
type Session interface {
	// Seen returns the [pawl.Result.Seen] hash of a file: its content as the model
	// last knew it. "" means never.
	Seen(path string) string

	// Todos returns the todo list; SetTodos replaces it.
	Todos() []pawl.Todo
	SetTodos(ctx context.Context, call pawl.CallID, todos []pawl.Todo) error

	// Ask asks the user and waits for the outcome. If the same call asks again, it
	// is the same ask. The error is that of ctx or of the log.
	Ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error)

	// SetMode changes the permission mode for the rest of the turn.
	SetMode(ctx context.Context, call pawl.CallID, mode string) error

	// Spawn runs a subtask in a subagent session and waits for its end, unless it
	// runs in the background. If the same call spawns again, it is the same
	// subagent.
	Spawn(ctx context.Context, call pawl.CallID, e SubagentTask) (Subagent, error)

	// Journal returns the journal of the mission that the session commands, or nil.
	Journal() missionapi.Journal
}

// SubagentTask is the subtask of a subagent session.
type SubagentTask struct {
	Agent      string
	Title      string
	Prompt     string
	Background bool // do not wait: the result is injected into the conversation later
}

// Subagent is a subagent session and its result.
type Subagent struct {
	Session pawl.SessionID
	Done    bool // false: it runs in the background
	End     pawl.TurnFinished
	Text    string   // its last message
	Changed []string // files that its tool calls wrote; changes by commands are not included
}
