// Package store defines the interface of the event store, with its leases, blobs, tokens
// and tenants. Package storetest tests every implementation against it.
package store

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// NotFound returns the error for a session that does not exist.
func NotFound(id pawl.SessionID) error {
	return fault.New(pawl.ErrNotFound, "session %s not found", id).Hint("Run `pawl session list` to see all sessions.")
}

// NeedsSync reports whether an event with this body must be fsynced before Append
// returns: what a user said, what is about to have an effect, and the end of a
// turn. Events in between can be reproduced after a power failure, by reading files
// or calling the model again, and reach the disk at the latest with the next event
// that needs it. A crash of Pawl alone loses none of them.
func NeedsSync(b pawl.Body) bool {
	switch b := b.(type) {
	case pawl.CallStarted:
		return !b.ReadOnly
	case pawl.TurnStarted, pawl.ReplyStarted, pawl.Retried, pawl.Replied, pawl.CallFinished, pawl.Injected, pawl.Asked, pawl.TodosSet, pawl.ModeChanged,
		pawl.Compacted, pawl.SessionSummarized:
		return false
	default:
		return true
	}
}

// Store keeps the logs of sessions. It is safe for concurrent use by many
// goroutines and processes. No operation spans two sessions.
type Store interface {
	// Append writes events at after+1, after+2, … and returns them with Session
	// and Seq set. If another writer was first it returns ErrConflict and writes
	// nothing, so a repeated step is harmless. A session begins with SessionCreated
	// at after = 0. The session's row and usage change in the same transaction.
	// Appended events survive a crash of this process and, if one of them
	// [NeedsSync], a power failure.
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)

	// Begin is Append at 0 for a session that has blobs from the start: it stores
	// everything or nothing. It reads each blob to its end.
	Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error)

	// Events yields the events after the given Seq, in order, up to the newest at
	// the time of the call. A session that does not exist yields ErrNotFound. No
	// transaction is open while the caller handles an event.
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]

	// Session returns the row of a session, or ErrNotFound. Its usage is the
	// session's own, without that of subagents.
	Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error)

	// Sessions returns a page of the rows that match, most recently updated first.
	// ErrInvalid if the cursor is not one of this list.
	Sessions(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error)

	// Usage returns the usage that matches, one row per session, day, model and
	// agent, ordered by day and then session. Subagents have rows of their own.
	Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error)

	// SubagentUsage returns the usage of the subagents of each session, with that of
	// their own subagents. Sessions without subagents are not in the map.
	SubagentUsage(ctx context.Context, ids ...pawl.SessionID) (map[pawl.SessionID]pawl.Usage, error)

	// SaveDraft overwrites the session's draft. Draft returns it, or ErrNotFound. A
	// draft is valid only while its reply is the open one.
	SaveDraft(ctx context.Context, id pawl.SessionID, d pawl.Draft) error
	Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error)

	Leases
	Blobs

	// Delete removes a session and everything that belongs to it. Events are never
	// removed in another way. ErrNotFound if the session does not exist, ErrBusy
	// while its lease is held.
	Delete(ctx context.Context, id pawl.SessionID) error

	Close() error
}

// Lease is the exclusive right of a process to work on a session. It expires unless
// it is renewed.
type Lease struct {
	Owner   Owner
	Expires time.Time
}

// Leases keep two processes from working on the same session.
type Leases interface {
	// Acquire takes the session's lease for ttl, or renews it if owner holds it, and
	// returns the owner that it took the lease from: "" if it was free. While another
	// owner holds an unexpired lease, Acquire returns a *pawl.BusyError, unless that
	// owner is ended, a process that the caller knows to have ended.
	Acquire(ctx context.Context, id pawl.SessionID, owner Owner, ttl time.Duration, ended Owner) (from Owner, err error)

	// Release gives up the lease if owner holds it.
	Release(ctx context.Context, id pawl.SessionID, owner Owner) error

	// Holder returns the owner of the session's lease, or "" if it is free or has
	// expired.
	Holder(ctx context.Context, id pawl.SessionID) (Owner, error)
}

// Blobs stores outputs that are too large for the log.
type Blobs interface {
	// PutBlob stores everything that r yields. Storing the same content again is
	// harmless.
	PutBlob(ctx context.Context, id pawl.SessionID, r io.Reader) (pawl.Blob, error)
	// OpenBlob opens a blob, or returns ErrNotFound.
	OpenBlob(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error)
}

// FullOutput returns the blob with the full output that a body refers to, or nil.
func FullOutput(b pawl.Body) *pawl.Blob {
	switch b := b.(type) {
	case pawl.CallFinished:
		return b.Result.Full
	case pawl.ShellRan:
		return b.Result.Full
	default: // has no result
		return nil
	}
}

// Owner names a process that works on sessions.
type Owner string
