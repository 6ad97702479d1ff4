package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// createAt creates a session that was updated some minutes after dawn.
func createAt(t *testing.T, s store.Store, minute int, created pawl.SessionCreated, more ...pawl.Body) pawl.SessionID {
	t.Helper()
	id, at := NewID(), dawn.Add(time.Duration(minute)*time.Minute)
	events := []pawl.Event{{At: at, Body: created}}
	for _, b := range more {
		events = append(events, pawl.Event{At: at, Body: b})
	}
	appended(t, s, id, 0, events...)
	return id
}

// listed fails the test unless the filter selects these sessions in this order.
func listed(t *testing.T, s store.Store, f pawl.Filter, want ...pawl.SessionID) {
	t.Helper()
	sessions, err := s.Sessions(t.Context(), f)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	var got []pawl.SessionID
	for _, session := range sessions.Sessions {
		equal(t, "listed row", session, row(t, s, session.ID))
		got = append(got, session.ID)
	}
	equal(t, fmt.Sprintf("%+v", f), got, want)
}

func listOrder(t *testing.T, s store.Store) {
	listed(t, s, pawl.Filter{})
	dir := pawl.SessionCreated{Dir: "/w"}
	third, first, second := createAt(t, s, 3, dir), createAt(t, s, 1, dir), createAt(t, s, 2, dir)
	listed(t, s, pawl.Filter{}, third, second, first)
	listed(t, s, pawl.Filter{Limit: 2}, third, second)

	updated := row(t, s, third).Updated
	listed(t, s, pawl.Filter{Before: updated}, second, first)
	listed(t, s, pawl.Filter{Before: updated.Add(time.Nanosecond)}, third, second, first)
	listed(t, s, pawl.Filter{Before: updated.In(time.FixedZone("west", -8*3600)), Limit: 1}, second)
	listed(t, s, pawl.Filter{Before: dawn})

	// A title moves a session to the top, a step within a turn does not.
	appended(t, s, first, 1, pawl.Event{At: dawn.Add(time.Hour), Body: pawl.SessionTitled{Title: "new"}})
	appended(t, s, second, 1, pawl.Event{At: dawn.Add(2 * time.Hour), Body: pawl.CallStarted{Call: "c"}})
	listed(t, s, pawl.Filter{}, first, third, second)

	// Among sessions updated at the same time, the newest ID comes first.
	same := []pawl.SessionID{createAt(t, s, 90, dir), createAt(t, s, 90, dir), createAt(t, s, 90, dir)}
	slices.Sort(same)
	listed(t, s, pawl.Filter{Limit: 3}, same[2], same[1], same[0])
}

func listFilters(t *testing.T, s store.Store) {
	prompt := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}}
	a := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w/a"})
	b := createAt(t, s, 2, pawl.SessionCreated{Dir: "/w/b"}, prompt)
	running := createAt(t, s, 3, pawl.SessionCreated{Dir: "/w/a"}, prompt, pawl.TurnStarted{Prompt: 2})
	done := createAt(t, s, 4, pawl.SessionCreated{Dir: "/w/b"}, prompt, pawl.TurnStarted{Prompt: 2}, pawl.TurnFinished{})
	subagent := createAt(t, s, 5, pawl.SessionCreated{Dir: "/w/a", Parent: a}, prompt)
	idle := createAt(t, s, 6, pawl.SessionCreated{Dir: "/w/b", Parent: a})

	listed(t, s, pawl.Filter{}, done, running, b, a)
	listed(t, s, pawl.Filter{Dir: "/w/a"}, running, a)
	listed(t, s, pawl.Filter{Dir: "/w/"})
	listed(t, s, pawl.Filter{Dir: "/w/%"})
	listed(t, s, pawl.Filter{Parent: a}, idle, subagent)
	listed(t, s, pawl.Filter{Parent: a, Dir: "/w/a"}, subagent)
	listed(t, s, pawl.Filter{Parent: b})
	listed(t, s, pawl.Filter{Parent: "\xff\x00"})
	listed(t, s, pawl.Filter{Unfinished: true}, running, b)
	listed(t, s, pawl.Filter{Unfinished: true, Parent: a}, subagent)
	listed(t, s, pawl.Filter{Unfinished: true, Dir: "/w/a", Query: "GO", Before: dawn.Add(time.Hour)}, running)
}

func listLimits(t *testing.T, s store.Store) {
	for range 101 {
		create(t, s)
	}
	for limit, want := range map[int]int{0: 100, -1: 100, 7: 7, 101: 101, 1000: 101, 1 << 40: 101} {
		got, err := s.Sessions(t.Context(), pawl.Filter{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprint("sessions at limit ", limit), len(got.Sessions), want)
	}
}
