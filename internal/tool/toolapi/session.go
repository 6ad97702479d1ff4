package toolapi

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// Buffers are the files of a session's workspace as a person has them open in an
// editor.
type Buffers interface {
	// Unsaved returns what the editor has of a file, if that is not what is on the
	// disk and nobody has saved it: then ok is true. It takes a few seconds at most.
	// An error means that the editor did not say; then the disk counts.
	Unsaved(ctx context.Context, f OnDisk) (text string, ok bool, err error)
}

// OnDisk is a text file as it is on the disk.
type OnDisk struct {
	Path    string // absolute
	Text    string
	Changed time.Time // when it was last written
}

// Session is the session as a tool call may use it. Everything done through
// it is in the log, so a call that runs again finds what it did before.
type Session interface {
	// Seen returns the [pawl.Result.Seen] of the file at path: its content as the
	// model last knew it. "" means that it never did.
	Seen(path string) string

	// Todos returns the session's list; SetTodos replaces it.
	Todos() []pawl.Todo
	SetTodos(ctx context.Context, call pawl.CallID, todos []pawl.Todo) error

	// Ask puts an ask to a person and waits for what comes of it. Asked again
	// by the same call, it is the same ask. The error is ctx's, or the log's.
	Ask(ctx context.Context, call pawl.CallID, a pawl.Ask) (pawl.Answer, error)

	// SetMode changes how the rest of the turn may act.
	SetMode(ctx context.Context, call pawl.CallID, mode string) error

	// Spawn has a subagent session work on an errand and waits for its end, unless
	// it is a background one. Spawned again by the same call, it is the same subagent.
	Spawn(ctx context.Context, call pawl.CallID, e SubagentTask) (Subagent, error)

	// MissionJournal returns what mission control needs of the session, nil unless it commands
	// a mission.
	Bridge() missionapi.Journal
}

// SubagentTask is the work that a subagent session is spawned for.
type SubagentTask struct {
	Agent      string
	Title      string
	Prompt     string
	Background bool // it is not waited for: what came of it is injected later
}

// Subagent is a subagent session and what has come of it.
type Subagent struct {
	Session pawl.SessionID
	Done    bool // false: it works in the background
	End     pawl.TurnFinished
	Text    string   // its last words
	Changed []string // the files that it wrote to, apart from what its commands did
}
