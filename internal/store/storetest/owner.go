package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// named returns a pointer to a user, for a filter.
func named(u pawl.User) *pawl.User { return &u }

func listOwners(t *testing.T, s store.Store) {
	mine := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w"})
	adas := createAt(t, s, 2, pawl.SessionCreated{Dir: "/w", Owner: "ada"}, pawl.SessionTitled{Title: "Parser"})
	shown := createAt(t, s, 3, pawl.SessionCreated{Dir: "/x", Owner: "ada"}, pawl.SessionShared{With: []pawl.User{"bob", "eve"}})
	bobs := createAt(t, s, 4, pawl.SessionCreated{Dir: "/w", Owner: "bob"}, pawl.SessionTitled{Title: "Parser too"})
	subagent := createAt(t, s, 5, pawl.SessionCreated{Dir: "/w", Owner: "ada", Parent: adas})
	createAt(t, s, 6, pawl.SessionCreated{Dir: "/w", Owner: "bob", Parent: adas})
	odd := createAt(t, s, 7, pawl.SessionCreated{Dir: "/w", Owner: "a%'\x00\"da"})

	listed(t, s, pawl.Filter{}, odd, bobs, shown, adas, mine)
	listed(t, s, pawl.Filter{Owner: named("")}, mine)
	listed(t, s, pawl.Filter{Owner: named(""), Shared: true}, mine)
	listed(t, s, pawl.Filter{Owner: named("ada")}, shown, adas)
	listed(t, s, pawl.Filter{Owner: named("ada"), Shared: true}, shown, adas)
	listed(t, s, pawl.Filter{Owner: named("ADA")})
	listed(t, s, pawl.Filter{Owner: named("ada"), Dir: "/w"}, adas)
	listed(t, s, pawl.Filter{Owner: named("ada"), Parent: adas}, subagent)
	listed(t, s, pawl.Filter{Owner: named("bob")}, bobs)
	listed(t, s, pawl.Filter{Owner: named("bob"), Shared: true}, bobs, shown)
	listed(t, s, pawl.Filter{Owner: named("bob"), Shared: true, Limit: 1}, bobs)
	listed(t, s, pawl.Filter{Owner: named("bob"), Shared: true, Query: "parser"}, bobs)
	listed(t, s, pawl.Filter{Owner: named("bob"), Query: "parser", Dir: "/x"})
	listed(t, s, pawl.Filter{Owner: named("eve"), Shared: true}, shown)
	listed(t, s, pawl.Filter{Owner: named("eve")})
	listed(t, s, pawl.Filter{Owner: named("ev"), Shared: true})
	listed(t, s, pawl.Filter{Owner: named("%"), Shared: true})
	listed(t, s, pawl.Filter{Owner: named("\xff\x00"), Shared: true})
	listed(t, s, pawl.Filter{Owner: named("a%'\x00\"da"), Shared: true}, odd)

	// The newest event replaces the earlier list.
	appended(t, s, shown, 2, event(pawl.SessionShared{With: []pawl.User{"eve"}}))
	listed(t, s, pawl.Filter{Owner: named("bob"), Shared: true}, bobs)
	listed(t, s, pawl.Filter{Owner: named("eve"), Shared: true}, shown)
	appended(t, s, shown, 3, event(pawl.SessionShared{}))
	listed(t, s, pawl.Filter{Owner: named("eve"), Shared: true})
	equal(t, "shared with", row(t, s, shown).Shared, nil)
}

func usageOwners(t *testing.T, s store.Store) {
	session := func(created pawl.SessionCreated, n int64) pawl.SessionID {
		id := NewID()
		appended(t, s, id, 0, event(created), replied(0, "m", "build", n), replied(1, "m", "build", 10*n))
		return id
	}
	session(pawl.SessionCreated{Dir: "/w"}, 1)
	adas := session(pawl.SessionCreated{Dir: "/w", Owner: "ada"}, 2)
	session(pawl.SessionCreated{Dir: "/x", Owner: "ada", Parent: adas}, 3)
	session(pawl.SessionCreated{Dir: "/x", Owner: "bob", Parent: adas}, 4)
	for _, c := range []struct {
		filter pawl.UsageFilter
		want   []int64
	}{
		{pawl.UsageFilter{Owner: named("")}, []int64{1, 10}},
		{pawl.UsageFilter{Owner: named("ada")}, []int64{2, 3, 20, 30}},
		{pawl.UsageFilter{Owner: named("ada"), Since: dawn.AddDate(0, 0, 1)}, []int64{20, 30}},
		{pawl.UsageFilter{Owner: named("ada"), Session: adas}, []int64{2, 3, 20, 30}},
		{pawl.UsageFilter{Owner: named("bob"), Session: adas}, []int64{4, 40}},
		{pawl.UsageFilter{Owner: named("ada"), Dir: "/w"}, []int64{2, 3, 20, 30}},
		{pawl.UsageFilter{Owner: named("eve")}, nil},
		{pawl.UsageFilter{Owner: named("\xff\x00")}, nil},
	} {
		var got []int64
		for _, r := range used(t, s, c.filter) {
			got = append(got, r.Input)
		}
		slices.Sort(got)
		equal(t, fmt.Sprintf("%+v", c.filter), got, c.want)
	}
}
