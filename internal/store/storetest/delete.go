package storetest

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

func deleted(t *testing.T, s store.Store, id pawl.SessionID) {
	t.Helper()
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// filled creates a session with a row in every table.
func filled(t *testing.T, s store.Store) (pawl.SessionID, pawl.Blob) {
	t.Helper()
	id := fill(t, s, 10)[0].Session
	if err := s.SaveDraft(t.Context(), id, pawl.Draft{Text: "draft"}); err != nil {
		t.Fatal(err)
	}
	return id, put(t, s, id, []byte("blob"))
}

func deleteAll(t *testing.T, s store.Store) {
	id, blob := filled(t, s)
	if _, err := s.Acquire(t.Context(), id, "a", time.Microsecond, ""); err != nil { // expires at once
		t.Fatal(err)
	}
	deleted(t, s, id)
	vanished(t, s, id, blob)
	listed(t, s, pawl.Filter{})

	// A new session with the same ID must not inherit anything.
	first := appended(t, s, id, 0, event(pawl.SessionCreated{Dir: "/w"}))
	equal(t, "the new log", log(t, s, id, 0), first)
	_, err := s.Draft(t.Context(), id)
	fails(t, "draft", err, pawl.ErrNotFound)
	_, err = s.OpenBlob(t.Context(), id, blob.ID)
	fails(t, "blob", err, pawl.ErrNotFound)
	acquired(t, s, id, "b", "", "")
}

// vanished fails the test unless the session is completely deleted.
func vanished(t *testing.T, s store.Store, id pawl.SessionID, blob pawl.Blob) {
	t.Helper()
	_, err := s.Session(t.Context(), id)
	fails(t, "session", err, pawl.ErrNotFound)
	for _, err := range s.Events(t.Context(), id, 0) {
		fails(t, "events", err, pawl.ErrNotFound)
	}
	_, err = s.Append(t.Context(), id, 10, titled("late"))
	fails(t, "append", err, pawl.ErrConflict)
	_, err = s.Draft(t.Context(), id)
	fails(t, "draft", err, pawl.ErrNotFound)
	fails(t, "save draft", s.SaveDraft(t.Context(), id, pawl.Draft{}), pawl.ErrNotFound)
	_, err = s.OpenBlob(t.Context(), id, blob.ID)
	fails(t, "blob", err, pawl.ErrNotFound)
	_, err = s.Acquire(t.Context(), id, "b", time.Hour, "")
	fails(t, "lease", err, pawl.ErrNotFound)
}

func deleteOne(t *testing.T, s store.Store) {
	mine, _ := filled(t, s)
	theirs, blob := filled(t, s)
	events, session := log(t, s, theirs, 0), row(t, s, theirs)
	deleted(t, s, mine)
	equal(t, "their log", log(t, s, theirs, 0), events)
	equal(t, "their row", row(t, s, theirs), session)
	holds(t, s, theirs, blob, []byte("blob"))
	if _, err := s.Draft(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
}

func deleteBusy(t *testing.T, s store.Store) {
	id, blob := filled(t, s)
	acquired(t, s, id, "a", "", "")
	busy(t, "delete", s.Delete(t.Context(), id), id, "a")
	equal(t, "events in the log", len(log(t, s, id, 0)), 10)
	holds(t, s, id, blob, []byte("blob"))
	released(t, s, id, "a")
	deleted(t, s, id)
}

func deleteMissing(t *testing.T, s store.Store) {
	id := create(t, s).Session
	deleted(t, s, id)
	for _, id := range []pawl.SessionID{id, NewID(), "", "..", "\xff\x00"} {
		fails(t, "delete", s.Delete(t.Context(), id), pawl.ErrNotFound)
	}
}
