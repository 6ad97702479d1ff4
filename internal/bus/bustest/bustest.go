// Package bustest is the test suite that every event bus must pass.
package bustest

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Bus is the interface that the suite tests.
type Bus interface {
	Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error)
	Publish(e pawl.Event)
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Harness is a bus under test, over an empty store.
type Harness struct {
	Bus   Bus
	Other Bus         // the bus of another process
	Store store.Store // the store of both
}

// Run runs the suite. open returns a new bus for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"replay then live", testReplayThenLive},
		{"resume at every number", testResumeAtEveryNumber},
		{"a slow reader loses nothing", testSlowReader},
		{"many readers", testManyReaders},
		{"racing appends", testRacingAppends},
		{"appends of another process", testOtherProcess},
		{"the body may use the bus", testBodyUsesBus},
		{"append keeps the store's contract", testAppendContract},
		{"no such session", testNotFound},
		{"a session that is deleted", testDeleted},
		{"the end of the context is silent", testContextEnd},
		{"unsaved events arrive live", testUnsavedLive},
		{"unsaved events follow what was appended before", testUnsavedOrder},
		{"deltas follow the replies of another process", testUnsavedOtherProcess},
		{"unsaved events are of one session", testUnsavedSession},
		{"nothing leaks", testLeaks},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// patience is how long a test waits for events before it fails.
const patience = 3 * time.Minute

const (
	session      pawl.SessionID = "01JD0000000000000000000000"
	otherSession pawl.SessionID = "01JD0000000000000000000001"
)

// fact returns the n-th durable event of a session, which differs from all others.
func fact(n pawl.Seq) pawl.Event {
	e := pawl.Event{At: time.Unix(1_700_000_000+int64(n), 0).UTC(), Body: pawl.SessionTitled{Title: fmt.Sprintf("title %d", n)}}
	if n == 1 {
		e.Body = pawl.SessionCreated{Dir: "/project"}
	}
	return e
}

// grow appends facts from+1 to to, atOnce at a time.
func grow(ctx context.Context, b Bus, id pawl.SessionID, from, to pawl.Seq, atOnce int) error {
	for after := from; after < to; {
		var events []pawl.Event
		for n := after + 1; n <= to && len(events) < atOnce; n++ {
			events = append(events, fact(n))
		}
		if _, err := b.Append(ctx, id, after, events...); err != nil {
			return fmt.Errorf("append after %d: %w", after, err)
		}
		after += pawl.Seq(len(events))
	}
	return nil
}

// mustGrow is grow for the test's own goroutine.
func mustGrow(t *testing.T, b Bus, id pawl.SessionID, from, to pawl.Seq, atOnce int) {
	t.Helper()
	if err := grow(t.Context(), b, id, from, to, atOnce); err != nil {
		t.Fatal(err)
	}
}

// facts returns the log from after+1 to to as readers must see it.
func facts(id pawl.SessionID, after, to pawl.Seq) []pawl.Event {
	var events []pawl.Event
	for n := after + 1; n <= to; n++ {
		e := fact(n)
		e.Session, e.Seq = id, n
		events = append(events, e)
	}
	return events
}

// follow reads events until the durable one numbered to, and passes each one,
// including unsaved ones, to see.
func follow(ctx context.Context, b Bus, id pawl.SessionID, after, to pawl.Seq, see func(pawl.Event)) ([]pawl.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var events []pawl.Event
	for e, err := range b.Events(ctx, id, after) {
		if err != nil {
			return events, err
		}
		see(e)
		if e.Seq != 0 {
			events = append(events, e)
		}
		if e.Seq >= to {
			break
		}
	}
	return events, nil
}

// blind ignores events.
func blind(pawl.Event) {}

// checkLog fails the test unless a reader that started after the given Seq got
// everything up to to.
func checkLog(t *testing.T, id pawl.SessionID, after, to pawl.Seq, got []pawl.Event, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("read after %d: %v", after, err)
	}
	want := facts(id, after, to)
	for i := range min(len(want), len(got)) {
		if want[i] == got[i] {
			continue // faster than cmp.Diff, for a hundred thousand events
		}
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Fatalf("read after %d: event %d of %d: %s", after, i+1, len(want), diff)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("read after %d: got %d events, want %d", after, len(got), len(want))
	}
}
