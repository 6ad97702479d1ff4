package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// listCursors reads lists page by page while sessions are updated: each session is on
// exactly one page.
func listCursors(t *testing.T, s store.Store) {
	var want []pawl.SessionID
	for i := range 23 {
		want = append(want, createAt(t, s, i/3, pawl.SessionCreated{Dir: "/w"}, pawl.Prompted{})) // three at the same time
	}
	slices.SortFunc(want, func(a, b pawl.SessionID) int {
		if by := row(t, s, b).Updated.Compare(row(t, s, a).Updated); by != 0 {
			return by
		}
		return strings.Compare(string(b), string(a))
	})
	later := dawn.Add(24 * time.Hour)
	for _, limit := range []int{1, 4, 23, 100} {
		var got []pawl.SessionID
		f := pawl.Filter{Limit: limit}
		for n := 0; ; n++ {
			page, err := s.Sessions(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Sessions {
				got = append(got, r.ID)
			}
			if page.Next == "" {
				break
			}
			if len(page.Sessions) != limit {
				t.Fatalf("a page of %d, but not the last: want %d", len(page.Sessions), limit)
			}
			f.Cursor = page.Next
			if limit > 1 { // one that was listed and one that was not move to the top, and a new one comes
				for _, id := range []pawl.SessionID{want[n], want[len(want)-1-n]} {
					later = later.Add(time.Minute)
					appended(t, s, id, row(t, s, id).Head, pawl.Event{At: later, Body: pawl.SessionTitled{Title: "moved"}},
						pawl.Event{At: later, Body: pawl.Replied{}})
				}
				later = later.Add(time.Minute)
				appended(t, s, NewID(), 0, pawl.Event{At: later, Body: pawl.SessionCreated{Dir: "/w"}})
			}
		}
		equal(t, fmt.Sprintf("pages of %d", limit), got, want)
		want = order(t, s)
	}
}

// order returns the sessions in the order of a list.
func order(t *testing.T, s store.Store) (ids []pawl.SessionID) {
	t.Helper()
	page, err := s.Sessions(t.Context(), pawl.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Sessions {
		ids = append(ids, r.ID)
	}
	return ids
}

// cursorsRefused checks that only the cursor of the same list continues it.
func cursorsRefused(t *testing.T, s store.Store) {
	for i := range 5 {
		createAt(t, s, i, pawl.SessionCreated{Dir: "/w", Owner: "ada"})
	}
	next := func(f pawl.Filter) string {
		t.Helper()
		page, err := s.Sessions(t.Context(), f)
		if err != nil || page.Next == "" {
			t.Fatalf("%+v: cursor %q, %v", f, page.Next, err)
		}
		return page.Next
	}
	good := next(pawl.Filter{Limit: 2})
	next(pawl.Filter{Limit: 1, Cursor: good}) // the size of pages may change
	listed(t, s, pawl.Filter{Limit: 100, Cursor: good}, order(t, s)[2:]...)

	for name, f := range map[string]pawl.Filter{
		"of another directory": {Cursor: next(pawl.Filter{Limit: 2, Dir: "/w"})},
		"of an owner":          {Cursor: next(pawl.Filter{Limit: 2, Owner: named("ada")})},
		"for another owner":    {Cursor: good, Owner: named("ada")},
		"for a state":          {Cursor: good, State: pawl.StateIdle},
		"for a query":          {Cursor: good, Query: "x"},
		"cut":                  {Cursor: good[:len(good)-1]},
		"longer":               {Cursor: good + "A"},
		"padded":               {Cursor: good + "="},
		"text":                 {Cursor: "1"},
		"quoted":               {Cursor: "'; DROP TABLE sessions; --"},
		"NUL":                  {Cursor: "\x00"},
		"long":                 {Cursor: strings.Repeat("A", 1<<20)},
	} {
		_, err := s.Sessions(t.Context(), f)
		fails(t, "a cursor "+name, err, pawl.ErrInvalid)
	}
	for i := range good {
		changed := []byte(good)
		if changed[i]++; changed[i] == 'Z'+1 || changed[i] == 'z'+1 || changed[i] == '9'+1 {
			changed[i] = 'b'
		}
		_, err := s.Sessions(t.Context(), pawl.Filter{Cursor: string(changed)})
		fails(t, fmt.Sprintf("a cursor that was changed at %d", i), err, pawl.ErrInvalid)
	}
}

// listStates checks the filters by state, agent and model.
func listStates(t *testing.T, s store.Store) {
	prompt := pawl.Prompted{Settings: pawl.Settings{Agent: "build", Model: "m/1"}}
	started := pawl.TurnStarted{Prompt: 2}
	idle := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w"})
	queued := createAt(t, s, 2, pawl.SessionCreated{Dir: "/w"}, prompt)
	running := createAt(t, s, 3, pawl.SessionCreated{Dir: "/w"}, prompt, started)
	asking := createAt(t, s, 4, pawl.SessionCreated{Dir: "/w"}, prompt, started, pawl.Asked{})
	failed := createAt(t, s, 5, pawl.SessionCreated{Dir: "/w"}, prompt, started, pawl.TurnFinished{Reason: pawl.ReasonError})
	ended := createAt(t, s, 6, pawl.SessionCreated{Dir: "/w"}, prompt, started, pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
	other := createAt(t, s, 7, pawl.SessionCreated{Dir: "/v"}, pawl.Prompted{Settings: pawl.Settings{Agent: "plan", Model: "m/2"}})

	listed(t, s, pawl.Filter{State: pawl.StateIdle}, ended, failed, idle)
	listed(t, s, pawl.Filter{State: pawl.StateQueued}, other, queued)
	listed(t, s, pawl.Filter{State: pawl.StateRunning}, asking, running)
	listed(t, s, pawl.Filter{State: pawl.StateAsking}, asking)
	listed(t, s, pawl.Filter{State: pawl.StateFailed}, failed)
	listed(t, s, pawl.Filter{Agent: "plan"}, other)
	listed(t, s, pawl.Filter{Model: "m/2"}, other)
	listed(t, s, pawl.Filter{Agent: "build", Model: "m/2"})
	listed(t, s, pawl.Filter{Agent: "build", State: pawl.StateQueued, Dir: "/w"}, queued)
	listed(t, s, pawl.Filter{Agent: "build' OR 1=1 --\x00"})
	for _, state := range []pawl.State{"no", "1=1", "'", "\x00"} {
		_, err := s.Sessions(t.Context(), pawl.Filter{State: state})
		fails(t, string(state), err, pawl.ErrInvalid)
	}
}
