package pawl

import (
	"context"
	"iter"
)

// Service is the interface that every front end uses, in the same process or over
// HTTP. It is safe for concurrent use. Errors have a class; see [CodeOf].
type Service interface {
	Projects

	// Create creates an empty session.
	Create(ctx context.Context, n NewSession) (Session, error)

	// Get returns a session, or ErrNotFound.
	Get(ctx context.Context, id SessionID) (Session, error)

	// List returns a page of the sessions that match, most recently updated first.
	List(ctx context.Context, f Filter) (SessionPage, error)

	// Usage returns the usage that matches: one row per session, day, model and
	// agent, ordered by day and then session. Subagents have rows of their own.
	Usage(ctx context.Context, f UsageFilter) ([]UsageRow, error)

	// StartMission starts a mission: a session whose Commander works toward a goal
	// until it is verified. The session and its first prompt are created together
	// or not at all.
	StartMission(ctx context.Context, n NewMission) (Session, error)

	// Mission returns the state of the mission that a session commands, or
	// ErrInvalid if it commands none.
	Mission(ctx context.Context, id SessionID) (Board, error)

	// Send adds a prompt to the session and returns the Seq of its Prompted event.
	// Once Send returns, the prompt survives a crash. While a turn is open, the
	// prompt's Delivery decides.
	Send(ctx context.Context, id SessionID, p Prompt) (Seq, error)

	// Waiting returns the accepted prompts that no turn has taken in yet, oldest
	// first.
	Waiting(ctx context.Context, id SessionID) ([]Waiting, error)

	// Reword replaces the text of a waiting prompt, and Withdraw removes it; prompt
	// is the Seq of its Prompted event. ErrNotFound if the prompt does not exist,
	// ErrConflict if a turn has taken it in or it was withdrawn.
	Reword(ctx context.Context, id SessionID, prompt Seq, parts Parts) error
	Withdraw(ctx context.Context, id SessionID, prompt Seq) error

	// Resume continues a session that was interrupted in a turn, or that has
	// waiting prompts. It returns once the work has started; ErrBusy if another
	// process works on the session.
	Resume(ctx context.Context, id SessionID) error

	// Answer answers an ask; ask is the Seq of its Asked event. ErrNotFound if the
	// ask does not exist, ErrConflict if it was answered. Once Answer returns, the
	// answer survives a crash.
	Answer(ctx context.Context, id SessionID, ask Seq, a Answer) error

	// Cancel ends the open turn and discards the prompts that were accepted before
	// the call; the log records it. Canceling an idle session is not an error.
	Cancel(ctx context.Context, id SessionID) error

	// Compact requests a compaction, with optional instructions on what matters,
	// and returns the Seq of its CompactionAsked event. It is done before the next
	// step; the Compacted event has the result.
	Compact(ctx context.Context, id SessionID, instructions string) (Seq, error)

	// Shell runs a command of the user in the working directory, in the same
	// sandbox as the agent's commands, and returns the Seq of its ShellAsked event.
	// It waits until no turn is open. The ShellRan event has the result, which the
	// model sees with the next prompt. Cancel ends it.
	Shell(ctx context.Context, id SessionID, command string) (Seq, error)

	// Preview returns what an Undo would change. Without To and Redo, that is the
	// undo of the newest turn or, if it is newer, of the user's newest shell
	// command. ErrNotFound if the message does not exist, or if there is nothing to
	// undo or redo.
	Preview(ctx context.Context, id SessionID, r Undo) (UndoPlan, error)

	// Undo requests to undo everything since a message, or to redo it, as Preview
	// shows it, and returns the Seq of its UndoAsked event; the Undone event has
	// the result. ErrBusy unless the session is idle.
	Undo(ctx context.Context, id SessionID, r Undo) (Seq, error)

	// Fork creates a session with a copy of the log before an event: at is the Seq
	// of a message, or 0 for the whole log. Files are not changed.
	Fork(ctx context.Context, id SessionID, at Seq) (Session, error)

	// Rename sets the title of the session.
	Rename(ctx context.Context, id SessionID, title string) error

	// Share sets the users who may read the session in addition to its owner. It
	// replaces the previous list.
	Share(ctx context.Context, id SessionID, with []User) error

	// Events yields the events after the given Seq, then new ones as they happen,
	// until ctx ends. Durable events arrive exactly once, in order, without gaps.
	// Unsaved ones are dropped if the reader is too slow.
	Events(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Draft returns the part of the current reply that has arrived so far, or
	// ErrNotFound. Together with the offsets of later deltas it gives a late reader
	// the whole reply.
	Draft(ctx context.Context, id SessionID) (Draft, error)

	// Import creates a session as n describes it, with the conversation and title of
	// exported events. Without n.ID it keeps the exported ID; ErrConflict if that exists.
	// Nothing in the events decides what the session may do or where it works, and
	// nothing of it runs: the session is idle, without settings, permissions or
	// queued prompts. Unknown kinds and values are ErrInvalid.
	Import(ctx context.Context, n NewSession, events iter.Seq2[Event, error]) (Session, error)

	// Delete removes a session and everything that belongs to it.
	Delete(ctx context.Context, id SessionID) error
}

// NewSession describes a session to create.
type NewSession struct {
	ID         SessionID // "" generates one; ErrConflict if it exists
	Owner      User      // a subagent has its parent's owner
	Dir        string    // the working directory, absolute; "" lets a fleet's server create one
	Workspace  string    // instead of Dir: the name of the workspace; only in a fleet
	Source     string    // the repository that a new workspace is cloned from; only in a fleet
	Title      string
	Parent     SessionID
	ParentCall CallID
}

// Prompt is a message of the user.
type Prompt struct {
	Parts    Parts
	Delivery Delivery
	Settings // an empty Model means that of the previous prompt

	// Approve is the plan of a mission that waits for approval: the prompt replaces the
	// plan by it and lets its tasks start. ErrInvalid if the mission has no plan yet or
	// needs no approval. Nothing else approves a plan.
	Approve *Plan

	// Pause keeps a mission from starting workers. Those that run finish, then the turn
	// ends. The next turn of a later prompt continues the mission. ErrInvalid if no turn
	// of a mission is open.
	Pause bool
}

// Delivery is what happens to a prompt that is sent while a turn is open.
type Delivery string

// The deliveries.
const (
	DeliverNow   Delivery = ""      // rejected with ErrBusy
	DeliverQueue Delivery = "queue" // processed after the open turn
	DeliverSteer Delivery = "steer" // added to the open turn at its next step
)
