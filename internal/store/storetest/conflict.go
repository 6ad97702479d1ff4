package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

func conflictOldHead(t *testing.T, s store.Store) {
	id := create(t, s).Session
	appended(t, s, id, 1, titled("a"), titled("b"))
	for _, after := range []pawl.Seq{1, 2, 4, 1000} {
		_, err := s.Append(t.Context(), id, after, titled("late"))
		fails(t, "append", err, pawl.ErrConflict)
	}
	equal(t, "events in the log", len(log(t, s, id, 0)), 3)
}

// conflictMissing wants ErrConflict, not ErrNotFound: to distinguish the two, a store
// would need a second query, and a writer that gets a conflict reads the log again
// anyway.
func conflictMissing(t *testing.T, s store.Store) {
	id := NewID()
	_, err := s.Append(t.Context(), id, 1, titled("a"))
	fails(t, "append", err, pawl.ErrConflict)
	_, err = s.Session(t.Context(), id)
	fails(t, "session", err, pawl.ErrNotFound)
}

func conflictCreate(t *testing.T, s store.Store) {
	first := create(t, s)
	before := row(t, s, first.Session)
	_, err := s.Append(t.Context(), first.Session, 0, event(pawl.SessionCreated{Dir: "/other"}), titled("a"))
	fails(t, "create", err, pawl.ErrConflict)
	equal(t, "the log", log(t, s, first.Session, 0), []pawl.Event{first})
	equal(t, "the row", row(t, s, first.Session), before)
}

const writers = 100

func conflictRace(t *testing.T, s store.Store) {
	first := create(t, s)
	want := []pawl.Event{first}
	for round := range 5 {
		after := pawl.Seq(len(want))
		want = append(want, race(t, []store.Store{s}, first.Session, after, func(writer int) []pawl.Event {
			return []pawl.Event{titled("round %d, writer %d", round, writer), titled("and again")}
		})...)
		equal(t, "the log", log(t, s, first.Session, 0), want)
	}
	equal(t, "head", row(t, s, first.Session).Head, pawl.Seq(len(want)))
}

func conflictCreateRace(t *testing.T, s store.Store) {
	id := NewID()
	won := race(t, []store.Store{s}, id, 0, func(writer int) []pawl.Event {
		return []pawl.Event{event(pawl.SessionCreated{Dir: "/w"}), titled("writer %d", writer)}
	})
	equal(t, "the log", log(t, s, id, 0), won)
	equal(t, "title", row(t, s, id).Title, won[1].Body.(pawl.SessionTitled).Title)
}

// race appends with all writers concurrently, spread over the stores, and returns the
// events of the winner.
func race(t *testing.T, stores []store.Store, id pawl.SessionID, after pawl.Seq, events func(writer int) []pawl.Event) []pawl.Event {
	t.Helper()
	start := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won [][]pawl.Event
	for w := range writers {
		wg.Go(func() {
			<-start
			got, err := stores[w%len(stores)].Append(t.Context(), id, after, events(w)...)
			if err != nil {
				if !errors.Is(err, pawl.ErrConflict) {
					t.Errorf("writer %d: %v", w, err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			won = append(won, got)
		})
	}
	close(start)
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d writers won seq %d, want one", len(won), after+1)
	}
	return won[0]
}
