package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// used returns the usage rows. They are ordered by day and session; used also sorts
// those with the same day and session.
func used(t *testing.T, s store.Store, f pawl.UsageFilter) []pawl.UsageRow {
	t.Helper()
	rows, err := s.Usage(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(rows, byDay) {
		t.Fatalf("not in order: %+v", rows)
	}
	return ordered(rows)
}

func byDay(a, b pawl.UsageRow) int {
	return cmp.Or(strings.Compare(a.Day, b.Day), strings.Compare(string(a.Session), string(b.Session)))
}

func ordered(rows []pawl.UsageRow) []pawl.UsageRow {
	slices.SortFunc(rows, func(a, b pawl.UsageRow) int {
		return cmp.Or(byDay(a, b), strings.Compare(a.Model, b.Model), strings.Compare(a.Agent, b.Agent))
	})
	return rows
}

// replied returns a reply some days after dawn, with a usage that is unique for n.
func replied(day int, model, agent string, n int64) pawl.Event {
	return pawl.Event{At: dawn.AddDate(0, 0, day), Turn: 1, Body: pawl.Replied{
		Step: 1, Model: model, Agent: agent, Finish: pawl.FinishEndTurn,
		Usage: pawl.Usage{Input: n, Output: 2 * n, Reasoning: 3 * n, CacheRead: 4 * n, CacheWrite: 5 * n, Cost: pawl.Money(6 * n)},
	}}
}

// usageFold checks that the rows equal the fold of the log, however the events were
// grouped when they were appended, and that they add up to the session's total.
func usageFold(t *testing.T, s store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		id := NewID()
		parent := pawl.SessionID(anyText.Draw(rt, "parent"))
		events := append([]pawl.Event{event(pawl.SessionCreated{Dir: "/w", Parent: parent})},
			rapid.SliceOfN(rapid.OneOf(anyReply, anyReply, anyEvent), 0, 12).Draw(rt, "events")...)
		for head := pawl.Seq(0); len(events) > 0; {
			n := rapid.IntRange(1, len(events)).Draw(rt, "batch")
			if _, err := s.Append(t.Context(), id, head, events[:n]...); err != nil {
				rt.Fatal(err)
			}
			head, events = head+pawl.Seq(n), events[n:]

			session := row(t, s, id)
			want := store.UsageOf(log(t, s, id, 0))
			for i := range want {
				want[i].Parent = session.Parent
			}
			got := used(t, s, pawl.UsageFilter{Session: id})
			if diff := gocmp.Diff(ordered(want), got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("usage (-fold +got):\n%s", diff)
			}
			var sum pawl.Usage
			for _, r := range got {
				sum = sum.Add(r.Usage)
			}
			if sum != session.Usage {
				rt.Fatalf("the rows add up to %+v, the session has %+v", sum, session.Usage)
			}
		}
	})
}

var anyReply = rapid.Custom(func(rt *rapid.T) pawl.Event {
	name := rapid.OneOf(rapid.SampledFrom([]string{"m", "n", strings.Repeat("long", 1000)}), anyText)
	at := dawn.Add(time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(rt, "at")))
	return pawl.Event{Turn: 1, At: at.In(time.FixedZone("east", 9*3600)), Body: pawl.Replied{
		Model: name.Draw(rt, "model"), Agent: name.Draw(rt, "agent"), Usage: anyUsage.Draw(rt, "usage"),
	}}
})

func usageFilters(t *testing.T, s store.Store) {
	session := func(created pawl.SessionCreated, replies ...pawl.Event) pawl.SessionID {
		id := NewID()
		appended(t, s, id, 0, append([]pawl.Event{event(created)}, replies...)...)
		return id
	}
	a := session(pawl.SessionCreated{Dir: "/w/a"}, replied(0, "m", "build", 1), replied(1, "m", "build", 2), replied(1, "n", "build", 3))
	b := session(pawl.SessionCreated{Dir: "/w/b"}, replied(1, "m", "build", 4))
	subagent := session(pawl.SessionCreated{Dir: "/worktree", Parent: a}, replied(2, "m", "explore", 5))
	grandchild := session(pawl.SessionCreated{Dir: "/worktree/2", Parent: subagent}, replied(2, "m", "explore", 6), replied(2, "m", "explore", 6))
	session(pawl.SessionCreated{Dir: "/w/a"})
	circle, turned := NewID(), NewID()
	appended(t, s, circle, 0, event(pawl.SessionCreated{Dir: "/circle", Parent: turned}), replied(0, "m", "build", 7))
	appended(t, s, turned, 0, event(pawl.SessionCreated{Dir: "/circle", Parent: circle}), replied(0, "m", "build", 8))

	for _, c := range []struct {
		filter pawl.UsageFilter
		want   []int64 // input of the sessions, in any order
	}{
		{pawl.UsageFilter{}, []int64{1, 2, 3, 4, 5, 12, 7, 8}},
		{pawl.UsageFilter{Since: dawn}, []int64{1, 2, 3, 4, 5, 12, 7, 8}},
		{pawl.UsageFilter{Since: dawn.AddDate(0, 0, 1)}, []int64{2, 3, 4, 5, 12}},
		{pawl.UsageFilter{Since: dawn.AddDate(0, 0, 1).Truncate(24 * time.Hour).Add(-1)}, []int64{1, 2, 3, 4, 5, 12, 7, 8}},
		{pawl.UsageFilter{Since: time.Date(2026, 3, 3, 1, 0, 0, 0, time.FixedZone("east", 2*3600))}, []int64{2, 3, 4, 5, 12}},
		{pawl.UsageFilter{Since: dawn.AddDate(0, 0, 3)}, nil},
		{pawl.UsageFilter{Session: a}, []int64{1, 2, 3, 5, 12}},
		{pawl.UsageFilter{Session: subagent}, []int64{5, 12}},
		{pawl.UsageFilter{Session: grandchild}, []int64{12}},
		{pawl.UsageFilter{Session: b}, []int64{4}},
		{pawl.UsageFilter{Session: circle}, []int64{7, 8}},
		{pawl.UsageFilter{Session: NewID()}, nil},
		{pawl.UsageFilter{Session: "\xff\x00"}, nil},
		{pawl.UsageFilter{Dir: "/w/a"}, []int64{1, 2, 3, 5, 12}},
		{pawl.UsageFilter{Dir: "/worktree"}, []int64{5, 12}},
		{pawl.UsageFilter{Dir: "/w/%"}, nil},
		{pawl.UsageFilter{Dir: "/w/a", Session: a, Since: dawn.AddDate(0, 0, 2)}, []int64{5, 12}},
		{pawl.UsageFilter{Dir: "/w/b", Session: a}, nil},
	} {
		var got []int64
		for _, r := range used(t, s, c.filter) {
			got = append(got, r.Input)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		equal(t, fmt.Sprintf("%+v", c.filter), got, c.want)
	}
	for id, want := range map[pawl.SessionID]int64{a: 17, subagent: 12, circle: 8, turned: 7} {
		sums, err := s.SubagentUsage(t.Context(), id, b, grandchild, NewID(), "\xff\x00")
		equal(t, "subagents", err, nil)
		equal(t, "subagents", sums, map[pawl.SessionID]pawl.Usage{id: replied(0, "m", "build", want).Body.(pawl.Replied).Usage})
	}
	all, err := s.SubagentUsage(t.Context(), a, subagent)
	equal(t, "subagents", err, nil)
	equal(t, "subagents of two", []int64{all[a].Input, all[subagent].Input}, []int64{17, 12})
	twice := replied(2, "m", "explore", 12).Body.(pawl.Replied).Usage
	equal(t, "the grandchild", used(t, s, pawl.UsageFilter{Session: grandchild}), []pawl.UsageRow{
		{Session: grandchild, Parent: subagent, Day: "2026-03-03", Model: "m", Agent: "explore", Replies: 2, Usage: twice},
	})
}

// usageConflict checks that rejected events do not count, and that each appended
// event counts once.
func usageConflict(t *testing.T, s store.Store) {
	id := create(t, s).Session
	race(t, []store.Store{s}, id, 1, func(int) []pawl.Event { return []pawl.Event{replied(0, "m", "build", 1)} })
	_, err := s.Append(t.Context(), id, 1, replied(0, "m", "build", 1), replied(1, "n", "build", 1))
	fails(t, "append from an old head", err, pawl.ErrConflict)
	_, err = s.Append(t.Context(), id, 0, event(pawl.SessionCreated{Dir: "/w"}), replied(0, "m", "build", 1))
	fails(t, "a second creation", err, pawl.ErrConflict)
	_, err = s.Append(t.Context(), id, 2, replied(0, "m", "build", 1), event(pawl.Delta{}))
	fails(t, "a batch with a bad event", err, pawl.ErrInvalid)
	_, err = s.Append(t.Context(), NewID(), 1, replied(0, "m", "build", 1))
	fails(t, "a missing session", err, pawl.ErrConflict)
	want := store.UsageOf(log(t, s, id, 0))
	equal(t, "replies", want[0].Replies, 1)
	equal(t, "usage", used(t, s, pawl.UsageFilter{}), want)
}

func usageDelete(t *testing.T, s store.Store) {
	mine, theirs := create(t, s).Session, create(t, s).Session
	appended(t, s, mine, 1, replied(0, "m", "build", 1), replied(1, "n", "build", 2))
	appended(t, s, theirs, 1, replied(0, "m", "build", 3))
	events := log(t, s, mine, 0)
	before := used(t, s, pawl.UsageFilter{})
	deleted(t, s, mine)
	equal(t, "what is left", used(t, s, pawl.UsageFilter{}), store.UsageOf(log(t, s, theirs, 0)))

	appended(t, s, mine, 0, events...) // like an import
	equal(t, "after an import", used(t, s, pawl.UsageFilter{}), before)
}

// TakesUsage checks a migrated store: the session that an earlier version wrote, with
// the given head, can be continued, and its replies count.
func TakesUsage(t *testing.T, s store.Store, id pawl.SessionID, head pawl.Seq) {
	t.Helper()
	equal(t, "usage before the first reply", used(t, s, pawl.UsageFilter{}), nil)
	got := appended(t, s, id, head, replied(0, "m", "build", 1))
	equal(t, "usage", used(t, s, pawl.UsageFilter{Dir: "/w"}), store.UsageOf(got))
}
