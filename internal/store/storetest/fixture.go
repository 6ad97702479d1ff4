package storetest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// dawn is the start time of the suite's sessions.
var dawn = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

// NewID returns a new session ID.
func NewID() pawl.SessionID {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	id := make([]byte, 26)
	rand.Read(id)
	for i, b := range id {
		id[i] = alphabet[b%32]
	}
	return pawl.SessionID(id)
}

// event returns an event at dawn.
func event(b pawl.Body) pawl.Event { return pawl.Event{At: dawn, Body: b} }

// titled returns a small event that is valid anywhere in a log but at its start.
func titled(format string, args ...any) pawl.Event {
	return event(pawl.SessionTitled{Title: fmt.Sprintf(format, args...)})
}

// create creates a session and returns its first event.
func create(t *testing.T, s store.Store) pawl.Event {
	t.Helper()
	return appended(t, s, NewID(), 0, event(pawl.SessionCreated{Dir: "/w"}))[0]
}

// appended appends events and returns them.
func appended(t *testing.T, s store.Store, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) []pawl.Event {
	t.Helper()
	got, err := s.Append(t.Context(), id, after, events...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// log reads all events after a Seq.
func log(t *testing.T, s store.Store, id pawl.SessionID, after pawl.Seq) []pawl.Event {
	t.Helper()
	var events []pawl.Event
	for e, err := range s.Events(t.Context(), id, after) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// row reads a session's row.
func row(t *testing.T, s store.Store, id pawl.SessionID) pawl.Session {
	t.Helper()
	got, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// equal compares values deeply; an empty slice equals nil.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// fails fails the test unless the error is of the given class.
func fails(t *testing.T, what string, err, class error) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Fatalf("%s: error %v, want %v", what, err, class)
	}
}

// busy fails the test unless err is a BusyError that names the holder.
func busy(t *testing.T, what string, err error, id pawl.SessionID, holder store.Owner) {
	t.Helper()
	fails(t, what, err, pawl.ErrBusy)
	var b *pawl.BusyError
	if !errors.As(err, &b) {
		t.Fatalf("%s: error %v is no BusyError", what, err)
	}
	equal(t, what, *b, pawl.BusyError{Session: id, Holder: string(holder)})
}
