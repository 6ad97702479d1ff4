package toolapi

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// Buffers gives access to the files of a session's workspace that are open in
// an editor.
type Buffers interface {
	// Unsaved returns the editor's text of a file if it has unsaved changes;
	// then ok is true. It takes at most a few seconds. An error means that the
	// editor did not answer; the file on disk counts then.
	Unsaved(ctx context.Context, f OnDisk) (text string, ok bool, err error)
}

// OnDisk is a text file as it is on disk.
type OnDisk struct {
	Path    string // absolute
	Text    string
	Changed time.Time // when it was last written
}

// Session is the part of a session that a tool call can use. Everything done
// through it is in the log, so a repeated call finds what it did before.
type Session interface {
	// Seen returns the [pawl.Result.Seen] of the file at path: the hash of the
	// content that the model last saw. "" means that it never did.
	Seen(path string) string

	// Todos returns the session's todo list; SetTodos replaces it.
	Todos() []pawl.Todo
	SetTodos(ctx context.Context, call pawl.CallID, todos []pawl.Todo) error

	// Ask asks the user and waits for the answer. If the same call asks again,
	// it is the same ask. The error is that of ctx or of the log.
	Ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error)

	// SetMode changes the permission mode for the rest of the turn.
	SetMode(ctx context.Context, call pawl.CallID, mode string) error

	// Spawn starts a subagent and waits for it to end, unless it runs in the
	// background. If the same call spawns again, it is the same subagent.
	Spawn(ctx context.Context, call pawl.CallID, e SubagentTask) (Subagent, error)

	// Journal returns the journal for mission control, nil unless the session
	// commands a mission.
	Journal() missionapi.Journal
}

// SubagentTask is the task of a subagent session.
type SubagentTask struct {
	Agent      string
	Title      string
	Prompt     string
	Background bool // do not wait for it: its result is added to the session later
}

// Subagent is a subagent session and its result.
type Subagent struct {
	Session pawl.SessionID
	Done    bool // false: it is running in the background
	End     pawl.TurnFinished
	Text    string   // its last message
	Changed []string // the files that it wrote, apart from those changed by commands
}
