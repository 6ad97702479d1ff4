package pawl

import (
	"context"
	"iter"
)

// Service is all that a front end knows. Each front end, near or far, uses this
// interface; errors carry a class, see [CodeOf].
type Service interface {
	Projects

	// Create makes an empty session.
	Create(ctx context.Context, n NewSession) (Session, error)

	// Get returns one session, or ErrNotFound.
	Get(ctx context.Context, id SessionID) (Session, error)

	// List returns the sessions that match, the latest updated first.
	List(ctx context.Context, f Filter) ([]Session, error)

	// Usage returns what the replies that match consumed; see [store.Store.Usage].
	Usage(ctx context.Context, f UsageFilter) ([]UsageRow, error)

	// StartMission begins a mission: a session whose Commander works toward a goal
	// until it is proven to be reached. The session and its first prompt are there at
	// once or not at all.
	StartMission(ctx context.Context, n NewMission) (Session, error)

	// Mission returns all that can be seen of the mission that a session commands,
	// or ErrInvalid if it commands none.
	Mission(ctx context.Context, id SessionID) (Board, error)

	// Send gives the session a prompt and returns the Seq of its Prompted
	// event. Accepted means appended: from then on a crash does not lose it.
	// While a turn is open the prompt's Delivery decides.
	Send(ctx context.Context, id SessionID, p Prompt) (Seq, error)

	// Waiting returns the prompts that were accepted and not yet taken in, the
	// oldest first.
	Waiting(ctx context.Context, id SessionID) ([]Waiting, error)

	// Reword replaces the words of a prompt that waits, and Withdraw takes it
	// back; prompt is the Seq of its Prompted event. ErrNotFound if there is no
	// such prompt, ErrConflict if it was taken in or back already.
	Reword(ctx context.Context, id SessionID, prompt Seq, parts Parts) error
	Withdraw(ctx context.Context, id SessionID, prompt Seq) error

	// Resume goes on with a session that a crash or kill left in mid-turn, or
	// with prompts waiting. It returns once the work is under way; ErrBusy if
	// another process has it.
	Resume(ctx context.Context, id SessionID) error

	// Answer answers what the session asked: ask is the Seq of its Asked event.
	// ErrNotFound if there is no such ask, ErrConflict if it has its answer
	// already. Accepted means appended.
	Answer(ctx context.Context, id SessionID, ask Seq, a Answer) error

	// Cancel ends the open turn and what was accepted before it; the log then
	// says so. Canceling an idle session is no error.
	Cancel(ctx context.Context, id SessionID) error

	// Compact orders the conversation to be made smaller, with a word on what
	// matters, and returns the Seq of its CompactionAsked event. It is done before
	// the next step; the Compacted event says what came of it.
	Compact(ctx context.Context, id SessionID, instructions string) (Seq, error)

	// Shell runs a command of the person's own in the session's directory, as the
	// agent's commands run there, and returns the Seq of its ShellAsked event. It is
	// run while no turn is open, so it waits for one that is; the ShellRan event says
	// what came of it, and the model knows it from the next prompt on. Cancel ends it.
	Shell(ctx context.Context, id SessionID, command string) (Seq, error)

	// Preview says what a Undo would do. Of a Undo without To and Redo it is
	// the undo of the newest turn, or of the person's command after it. ErrNotFound if there is no such message, or
	// nothing to undo or redo.
	Preview(ctx context.Context, id SessionID, r Undo) (UndoPlan, error)

	// Undo orders to go back to before a message, or forward again, as Preview
	// showed it, and returns the Seq of its UndoAsked event; the Undone event
	// says what came of it. ErrBusy unless the session is idle.
	Undo(ctx context.Context, id SessionID, r Undo) (Seq, error)

	// Fork makes a session that begins as this one was before an event: at is
	// the Seq of a message, or 0 for all of it. The files stay as they are.
	Fork(ctx context.Context, id SessionID, at Seq) (Session, error)

	// Rename gives the session another title.
	Rename(ctx context.Context, id SessionID, title string) error

	// Share says who may read the session beside its owner: these and no others.
	Share(ctx context.Context, id SessionID, with []User) error

	// Events yields the events after the given Seq, then those that come, until
	// ctx ends. Durable ones arrive once each, in order, without gaps; unsaved
	// ones are dropped for a reader that cannot keep up.
	Events(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Draft returns what has come so far of the reply that is being written,
	// or ErrNotFound. With its deltas' offsets a late watcher sees it whole.
	Draft(ctx context.Context, id SessionID) (Draft, error)

	// Import makes a session from events that Events gave, here or elsewhere.
	// It keeps the id; ErrConflict if that is taken.
	Import(ctx context.Context, events iter.Seq2[Event, error]) (Session, error)

	// Delete removes a session and all that belongs to it.
	Delete(ctx context.Context, id SessionID) error
}

// NewSession says what a session begins with.
type NewSession struct {
	ID         SessionID // "" means a new one; ErrConflict if it is taken
	Owner      User      // whose it is; a subagent has its parent's
	Dir        string    // the workspace, absolute; "" lets the server of a fleet make one
	Workspace  string    // instead of Dir: its name; only the server of a fleet takes one
	Source     string    // a repository that the workspace begins as; only a fleet takes one
	Title      string
	Parent     SessionID
	ParentCall CallID
}

// Prompt is a person's message.
type Prompt struct {
	Parts    Parts
	Delivery Delivery
	Settings // an unset Model means that of the session's last prompt
}

// Delivery says what becomes of a prompt while a turn is open.
type Delivery string

// The deliveries.
const (
	DeliverNow   Delivery = ""      // refused with ErrBusy
	DeliverQueue Delivery = "queue" // worked on after the open turn
	DeliverSteer Delivery = "steer" // taken in at the open turn's next step
)
