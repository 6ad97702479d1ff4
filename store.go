package pawl

import (
	"context"
	"io"
	"iter"
	"time"
)

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
	Append(ctx context.Context, id SessionID, after Seq, events ...Event) ([]Event, error)

	// Begin is Append at 0 for a session that has blobs from the start: all of
	// it is there, or there is no session. It reads each blob to its end.
	Begin(ctx context.Context, id SessionID, blobs iter.Seq2[io.Reader, error], events ...Event) ([]Event, error)

	// Events yields the events after the given Seq, in order, up to the newest
	// at the time of reading. A session that does not exist yields ErrNotFound.
	// Nothing is held open while the caller works on an event.
	Events(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Session returns the row of one session, or ErrNotFound.
	Session(ctx context.Context, id SessionID) (Session, error)

	// Sessions returns the rows that match, the latest updated first.
	Sessions(ctx context.Context, f Filter) ([]Session, error)

	// Usage returns the sums over the replies that match, a row for each
	// session, day, model and agent, by day and then session. Subagents have rows
	// of their own.
	Usage(ctx context.Context, f UsageFilter) ([]UsageRow, error)

	// SaveDraft overwrites the session's draft. Draft returns it, or
	// ErrNotFound. A draft counts only while its reply is the open one.
	SaveDraft(ctx context.Context, id SessionID, d Draft) error
	Draft(ctx context.Context, id SessionID) (Draft, error)

	Leases
	Blobs

	// Delete removes a session and all that belongs to it: retention, the only
	// way that events ever go. ErrNotFound if there is none, ErrBusy while its
	// lease is held.
	Delete(ctx context.Context, id SessionID) error

	Close() error
}

// Filter picks sessions. The zero value picks the newest ones.
type Filter struct {
	Query      string    // words; see SearchWords
	Dir        string    // this workspace only
	Parent     SessionID // subagents of this session; "" picks sessions that have no parent
	Owner      *User     // this user's only; nil means any
	Shared     bool      // with Owner: and those that others share with them
	Unfinished bool      // only those that are not idle
	Missions   bool      // only those that command one
	Before     time.Time // updated before this; zero means no bound
	Limit      int       // 0 means 100, at most 1000
}

// Owner names a process that works on sessions.
type Owner string

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
	// unless that owner is gone, which the caller knows for certain.
	Acquire(ctx context.Context, id SessionID, owner Owner, ttl time.Duration, gone Owner) (from Owner, err error)

	// Release gives the lease up if owner holds it.
	Release(ctx context.Context, id SessionID, owner Owner) error
}

// Draft is what has come of a reply that is still growing. It is written at
// most a few times a second, so that a crash loses little.
type Draft struct {
	Reply     Seq    `json:"reply"` // the ReplyStarted event it belongs to
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// Blob names an output that is too large for the log.
type Blob struct {
	ID   string `json:"id"` // the content's SHA-256 in hex
	Size int64  `json:"size"`
}

// Blobs keep large outputs beside the log.
type Blobs interface {
	// PutBlob stores all that r yields. Storing the same content again is harmless.
	PutBlob(ctx context.Context, id SessionID, r io.Reader) (Blob, error)
	// OpenBlob reads a blob, or returns ErrNotFound.
	OpenBlob(ctx context.Context, id SessionID, blob string) (io.ReadCloser, error)
}
