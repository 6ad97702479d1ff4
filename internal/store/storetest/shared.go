package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

func sharedEvents(t *testing.T, a, b store.Store) {
	want := []pawl.Event{create(t, a)}
	id := want[0].Session
	for i := range 10 {
		from, to := a, b
		if i%2 == 0 {
			from, to = b, a
		}
		want = append(want, appended(t, from, id, pawl.Seq(len(want)), titled("%d", i))...)
		equal(t, "the log as the other sees it", log(t, to, id, 0), want)
		equal(t, "the row as the other sees it", row(t, to, id), row(t, from, id))
	}
}

func sharedAppends(t *testing.T, a, b store.Store) {
	const sessions, events = 4, 25
	var wg sync.WaitGroup
	for _, s := range []store.Store{a, b} {
		for range sessions {
			wg.Go(func() {
				id := NewID()
				if _, err := s.Append(t.Context(), id, 0, event(pawl.SessionCreated{Dir: "/w"})); err != nil {
					t.Error(err)
				}
				for n := range pawl.Seq(events) {
					if _, err := s.Append(t.Context(), id, n+1, titled("%d", n)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	rows, err := b.Sessions(t.Context(), pawl.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "sessions", len(rows.Sessions), 2*sessions)
	for _, r := range rows.Sessions {
		equal(t, "events of a session", len(log(t, a, r.ID, 0)), events+1)
	}
}

func sharedRace(t *testing.T, a, b store.Store) {
	want := []pawl.Event{create(t, a)}
	for range 3 {
		want = append(want, race(t, []store.Store{a, b}, want[0].Session, pawl.Seq(len(want)), func(writer int) []pawl.Event {
			return []pawl.Event{titled("writer %d", writer)}
		})...)
		equal(t, "the log", log(t, b, want[0].Session, 0), want)
	}
}

func sharedLease(t *testing.T, a, b store.Store) {
	id := create(t, a).Session
	acquired(t, a, id, "a", "", "")
	_, err := b.Acquire(t.Context(), id, "b", time.Hour, "")
	busy(t, "the other's lease", err, id, "a")
	busy(t, "delete", b.Delete(t.Context(), id), id, "a")
	released(t, a, id, "a")
	acquired(t, b, id, "b", "", "")
}

func sharedRest(t *testing.T, a, b store.Store) {
	id, blob := filled(t, a)
	holds(t, b, id, blob, []byte("blob"))
	draft, err := b.Draft(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "draft", draft, pawl.Draft{Text: "draft"})
	deleted(t, b, id)
	vanished(t, a, id, blob)
}
