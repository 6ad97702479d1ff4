package store

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/pawl-dev/pawl"
)

// NeedsSync reports whether a body must be on the disk before anybody acts on it:
// what a person said, and what is about to have an effect or has ended a turn.
// What is between can be had again after a power cut, by reading or by asking
// the model once more, and reaches the disk at the latest with the next lasting
// one. A crash of pawl alone loses none of it.
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

// Store keeps the logs. It is safe for use by many goroutines and many
// processes at once; no operation spans two sessions. The storetest package is
// its contract in executable form.
type Store interface {
	// Append writes events at after+1, after+2, … and returns them with Session
	// and Seq filled in. If another writer got there first it returns
	// ErrConflict and writes nothing, so a retried step is harmless. A session
	// begins with SessionCreated at after = 0. The session's row and usage change
	// in the same transaction. What was appended outlives this process, and if
	// one of the events is [NeedsSync] the machine's crash too.
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)

	// Begin is Append at 0 for a session that has blobs from the start: all of
	// it is there, or there is no session. It reads each blob to its end.
	Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error)

	// Events yields the events after the given Seq, in order, up to the newest
	// at the time of reading. A session that does not exist yields ErrNotFound.
	// Nothing is held open while the caller works on an event.
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]

	// Session returns the row of one session, or ErrNotFound.
	Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error)

	// Sessions returns the rows that match, the latest updated first.
	Sessions(ctx context.Context, f pawl.Filter) ([]pawl.Session, error)

	// Usage returns the sums over the replies that match, a row for each
	// session, day, model and agent, by day and then session. Subagents have rows
	// of their own.
	Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error)

	// SaveDraft overwrites the session's draft. Draft returns it, or
	// ErrNotFound. A draft counts only while its reply is the open one.
	SaveDraft(ctx context.Context, id pawl.SessionID, d pawl.Draft) error
	Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error)

	Leases
	Blobs

	// Delete removes a session and all that belongs to it: retention, the only
	// way that events ever go. ErrNotFound if none exists, ErrBusy while its
	// lease is held.
	Delete(ctx context.Context, id pawl.SessionID) error

	Close() error
}

// Lease says who works on a session. It lapses by itself when not renewed.
type Lease struct {
	Owner   Owner
	Expires time.Time
}

// Leases keep two processes off one session.
type Leases interface {
	// Acquire takes the session's lease for ttl, or renews it if owner holds it
	// already, and returns the owner it was taken from: "" if it was free.
	// A lease that another owner holds and that has not lapsed is a *BusyError,
	// unless that owner no longer exists, which the caller knows for certain.
	Acquire(ctx context.Context, id pawl.SessionID, owner Owner, ttl time.Duration, gone Owner) (from Owner, err error)

	// Release gives the lease up if owner holds it.
	Release(ctx context.Context, id pawl.SessionID, owner Owner) error
}

// Blobs keep large outputs beside the log.
type Blobs interface {
	// PutBlob stores all that r yields. Storing the same content again is harmless.
	PutBlob(ctx context.Context, id pawl.SessionID, r io.Reader) (pawl.Blob, error)
	// OpenBlob reads a blob, or returns ErrNotFound.
	OpenBlob(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error)
}

// FullOutput returns where the whole of the result is that a body has, or nil.
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
