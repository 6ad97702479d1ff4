// Package record encodes events and normalizes filters for the stores, so that all
// stores write and select the same.
package record

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Row is one event as it is stored.
type Row struct {
	Seq     pawl.Seq
	Turn    int
	At      time.Time // UTC, whole microseconds
	Kind    pawl.Kind
	Version int
	Data    []byte // the body's JSON, valid UTF-8
}

// Batch is a checked append, ready to be written.
type Batch struct {
	Rows   []Row
	Events []pawl.Event    // the events as reading the rows yields them
	Change store.Change    // the change to the session's row
	Usage  []pawl.UsageRow // the usage to add, each key once
	Index  Index           // the change to the search index
}

// NewBatch checks and encodes an append. It returns ErrInvalid if there are no
// events, if an event does not belong in a log, or if a session does not begin with
// exactly one SessionCreated. undo returns the request of an earlier UndoAsked event of
// the session.
//
// NewBatch decodes each body again before it is written, for two reasons: a log with
// one unreadable event could never be opened again, and the caller continues with
// exactly what a restart would read.
func NewBatch(id pawl.SessionID, after pawl.Seq, events []pawl.Event, undo func(pawl.Seq) (pawl.Undo, error)) (Batch, error) {
	switch {
	case !id.Valid():
		return Batch{}, fault.New(pawl.ErrInvalid, "invalid session id %q", id)
	case after < 0:
		return Batch{}, fault.New(pawl.ErrInvalid, "invalid seq %d", after)
	case len(events) == 0:
		return Batch{}, fault.New(pawl.ErrInvalid, "no events")
	}
	b := Batch{Rows: make([]Row, len(events)), Events: make([]pawl.Event, len(events))}
	for i, e := range events {
		e.Seq = after + pawl.Seq(i) + 1
		row, err := encode(e)
		if err != nil {
			return Batch{}, err
		}
		if b.Events[i], err = row.Event(id); err != nil {
			return Batch{}, fault.New(pawl.ErrInvalid, "the event could not be read again: %w", err)
		}
		b.Rows[i] = row
	}
	b.Change = store.ChangeOf(b.Events)
	b.Usage = store.UsageOf(b.Events)
	var err error
	b.Index, err = newIndex(b.Events, undo)
	return b, err
}

func encode(e pawl.Event) (Row, error) {
	if e.Body == nil {
		return Row{}, fault.New(pawl.ErrInvalid, "the event has no body")
	}
	kind, version, data, err := e.EncodeBody()
	if err != nil {
		return Row{}, fault.New(pawl.ErrInvalid, "%w", err)
	}
	if !kind.Durable() {
		return Row{}, fault.New(pawl.ErrInvalid, "events of kind %s are not stored", kind)
	}
	if _, creates := e.Body.(pawl.SessionCreated); creates != (e.Seq == 1) {
		return Row{}, fault.New(pawl.ErrInvalid, "%s at %d: a log begins with session.created, exactly once", kind, e.Seq)
	}
	if !utf8.Valid(data) {
		// The encoder passes raw JSON, such as a tool call's input, through
		// unchecked. PostgreSQL rejects invalid UTF-8.
		data = []byte(text(string(data)))
	}
	return Row{e.Seq, e.Turn, stored(e.At), kind, version, data}, nil
}

// Event decodes a row.
func (r Row) Event(id pawl.SessionID) (pawl.Event, error) {
	body, err := r.Kind.Decode(r.Version, r.Data)
	if err != nil {
		return pawl.Event{}, fmt.Errorf("event %d: %w", r.Seq, err)
	}
	return pawl.Event{Session: id, Seq: r.Seq, Turn: r.Turn, At: r.At.UTC(), Body: body}, nil
}

// stored returns t as stores keep it: UTC, in whole microseconds, the precision of
// PostgreSQL.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// text returns s as JSON keeps it: each invalid byte becomes U+FFFD.
func text(s string) string { return string([]rune(s)) }
