// Package record turns appends and filters into what the stores write and ask,
// so that two stores cannot differ in it.
package record

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
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
	Events []pawl.Event    // what reading the rows will yield
	Change store.Change    // what they do to the session's row
	Usage  []pawl.UsageRow // what they add to the sums, each key once
}

// NewBatch checks and encodes an append. Its errors are ErrInvalid: nothing to
// write, an event that does not belong in a log, or a session that does not
// begin with SessionCreated, once.
//
// Each body is read back before it is written. A log with one unreadable event
// could never be opened again, so such an event must not get in. And the caller
// goes on with what the log holds, so that a restart finds the same.
func NewBatch(id pawl.SessionID, after pawl.Seq, events []pawl.Event) (Batch, error) {
	switch {
	case !id.Valid():
		return Batch{}, fmt.Errorf("session id %q: %w", id, pawl.ErrInvalid)
	case after < 0:
		return Batch{}, fmt.Errorf("seq %d: %w", after, pawl.ErrInvalid)
	case len(events) == 0:
		return Batch{}, fmt.Errorf("no events: %w", pawl.ErrInvalid)
	}
	b := Batch{Rows: make([]Row, len(events)), Events: make([]pawl.Event, len(events))}
	for i, e := range events {
		e.Seq = after + pawl.Seq(i) + 1
		row, err := encode(e)
		if err != nil {
			return Batch{}, err
		}
		if b.Events[i], err = row.Event(id); err != nil {
			return Batch{}, fmt.Errorf("%w: it could not be read again: %w", pawl.ErrInvalid, err)
		}
		b.Rows[i] = row
	}
	b.Change = store.ChangeOf(b.Events)
	b.Usage = store.UsageOf(b.Events)
	return b, nil
}

func encode(e pawl.Event) (Row, error) {
	if e.Body == nil {
		return Row{}, fmt.Errorf("event without a body: %w", pawl.ErrInvalid)
	}
	kind, version, data, err := e.EncodeBody()
	if err != nil {
		return Row{}, fmt.Errorf("%w: %w", pawl.ErrInvalid, err)
	}
	if !kind.Durable() {
		return Row{}, fmt.Errorf("%s is not for the log: %w", kind, pawl.ErrInvalid)
	}
	if _, creates := e.Body.(pawl.SessionCreated); creates != (e.Seq == 1) {
		return Row{}, fmt.Errorf("%s at %d: a session begins with session.created, once: %w", kind, e.Seq, pawl.ErrInvalid)
	}
	if !utf8.Valid(data) {
		// Raw JSON from outside, a call's input, is passed on unread by the
		// encoder. PostgreSQL would refuse it.
		data = []byte(text(string(data)))
	}
	return Row{e.Seq, e.Turn, stored(e.At), kind, version, data}, nil
}

// Event reads a row back.
func (r Row) Event(id pawl.SessionID) (pawl.Event, error) {
	body, err := r.Kind.Decode(r.Version, r.Data)
	if err != nil {
		return pawl.Event{}, fmt.Errorf("event %d: %w", r.Seq, err)
	}
	return pawl.Event{Session: id, Seq: r.Seq, Turn: r.Turn, At: r.At.UTC(), Body: body}, nil
}

// stored returns t as a store keeps it: UTC, whole microseconds, the finest that
// PostgreSQL has.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// text returns s as JSON keeps it: each invalid byte becomes U+FFFD.
func text(s string) string { return string([]rune(s)) }
