package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// fill creates a session of n events and returns its log.
func fill(t *testing.T, s store.Store, n int) []pawl.Event {
	t.Helper()
	events := []pawl.Event{event(pawl.SessionCreated{Dir: "/w"})}
	for i := 1; i < n; i++ {
		events = append(events, titled("%d", i))
	}
	return appended(t, s, NewID(), 0, events...)
}

func eventsPages(t *testing.T, s store.Store) {
	all := fill(t, s, 2_100)
	id := all[0].Session
	for _, after := range []int{0, 1_000, 2_099, 2_100, 5_000} {
		equal(t, fmt.Sprintf("events after %d", after), log(t, s, id, pawl.Seq(after)), all[min(after, len(all)):])
	}
	n := 0
	for _, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 700 {
			break
		}
	}
	equal(t, "events before the break", n, 700)
}

// eventsNested runs more readers than any store has connections, each in the middle
// of its log, and a writer. If a reader held a connection, this would deadlock.
func eventsNested(t *testing.T, s store.Store) {
	all := fill(t, s, 600)
	id, head := all[0].Session, pawl.Seq(len(all))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var read func(depth int)
	read = func(depth int) {
		n := 0
		for _, err := range s.Events(ctx, id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n < 300 {
				continue
			}
			if depth > 0 {
				read(depth - 1)
				return
			}
			if _, err := s.Append(ctx, id, head, titled("meanwhile")); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	read(20)
	equal(t, "events", len(log(t, s, id, 0)), len(all)+1)
}

func eventsMissing(t *testing.T, s store.Store) {
	for _, id := range []pawl.SessionID{NewID(), "", "no id", "\xff\x00"} {
		for _, after := range []pawl.Seq{0, 5} {
			n := 0
			for _, err := range s.Events(t.Context(), id, after) {
				fails(t, "events", err, pawl.ErrNotFound)
				n++
			}
			equal(t, "times that the error came", n, 1)
		}
	}
	id := create(t, s).Session
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Events(ctx, id, 0) {
		fails(t, "events for a canceled caller", err, context.Canceled)
	}
}

func eventsDeleted(t *testing.T, s store.Store) {
	all := fill(t, s, 2_000)
	id, n := all[0].Session, 0
	var last error
	for _, err := range s.Events(t.Context(), id, 0) {
		if last = err; err == nil {
			n++
		}
		if n == 1 {
			if err := s.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	fails(t, "the end of the log", last, pawl.ErrNotFound)
	if n >= len(all) {
		t.Fatalf("%d events were read in one go", n)
	}
}
