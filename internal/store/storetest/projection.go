package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// projection checks that the row equals the fold of the log event by event, however
// the events were grouped when they were appended.
func projection(t *testing.T, s store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		id := NewID()
		events := append([]pawl.Event{event(pawl.SessionCreated{
			Dir: anyText.Draw(rt, "dir"), Parent: pawl.SessionID(anyText.Draw(rt, "parent")), Owner: pawl.User(anyText.Draw(rt, "owner")),
		})}, rapid.SliceOfN(anyEvent, 0, 12).Draw(rt, "events")...)

		var head pawl.Seq
		for len(events) > 0 {
			n := rapid.IntRange(1, len(events)).Draw(rt, "batch")
			if _, err := s.Append(t.Context(), id, head, events[:n]...); err != nil {
				rt.Fatal(err)
			}
			head, events = head+pawl.Seq(n), events[n:]
			want := fold(t, s, id)
			if diff := cmp.Diff(want, row(t, s, id)); diff != "" {
				rt.Fatalf("row (-fold +got):\n%s", diff)
			}
		}
	})
}

// fold computes a session's row from its log.
func fold(t *testing.T, s store.Store, id pawl.SessionID) pawl.Session {
	t.Helper()
	want := pawl.Session{ID: id}
	for _, e := range log(t, s, id, 0) {
		store.ChangeOf([]pawl.Event{e}).Apply(&want)
		want.Head = e.Seq
	}
	return want
}

var (
	anyText  = rapid.OneOf(rapid.SampledFrom(hard), rapid.StringN(0, 200, -1))
	anyUsage = rapid.Custom(func(rt *rapid.T) pawl.Usage {
		n := rapid.Int64Range(0, 1<<40)
		return pawl.Usage{Input: n.Draw(rt, "n"), Output: n.Draw(rt, "n"), Reasoning: n.Draw(rt, "n"),
			CacheRead: n.Draw(rt, "n"), CacheWrite: n.Draw(rt, "n"), Cost: pawl.Money(n.Draw(rt, "n"))}
	})
	anyEvent = rapid.Custom(func(rt *rapid.T) pawl.Event {
		at := dawn.Add(time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(rt, "at")))
		return pawl.Event{Turn: rapid.IntRange(0, 9).Draw(rt, "turn"), At: at, Body: anyBody.Draw(rt, "body")}
	})
	anyBody = rapid.OneOf(
		rapid.SampledFrom(samples),
		rapid.Map(anyText, func(s string) pawl.Body { return pawl.SessionTitled{Title: s} }),
		rapid.Custom(func(rt *rapid.T) pawl.Body {
			return pawl.Prompted{
				Parts:    pawl.Parts{pawl.Text{Text: anyText.Draw(rt, "text")}, pawl.Text{Text: anyText.Draw(rt, "text")}},
				Settings: pawl.Settings{Model: anyText.Draw(rt, "model")},
			}
		}),
		rapid.Map(rapid.SliceOfN(anyText, 0, 3), func(names []string) pawl.Body {
			var shared pawl.SessionShared
			for _, name := range names {
				shared.With = append(shared.With, pawl.User(name))
			}
			return shared
		}),
		rapid.Map(anyUsage, func(u pawl.Usage) pawl.Body { return pawl.Replied{Usage: u} }),
		rapid.Map(anyUsage, func(u pawl.Usage) pawl.Body { return pawl.TurnFinished{Usage: u} }),
	)
)

// init calls String on the generators: they set their names lazily, and parallel
// tests would race for that.
func init() { //nolint:gochecknoinits // of a library state
	for _, g := range []fmt.Stringer{anyText, anyUsage, anyEvent, anyBody, anyReply} {
		_ = g.String()
	}
}

func projectionMissing(t *testing.T, s store.Store) {
	create(t, s)
	for _, id := range []pawl.SessionID{NewID(), "", "no id", "\xff\x00"} {
		_, err := s.Session(t.Context(), id)
		fails(t, string(id), err, pawl.ErrNotFound)
	}
}

func drafts(t *testing.T, s store.Store) {
	id := create(t, s).Session
	_, err := s.Draft(t.Context(), id)
	fails(t, "draft before the first", err, pawl.ErrNotFound)
	for _, d := range []pawl.Draft{{Reply: 4, Text: "a"}, {Reply: 4, Text: "ab", Reasoning: "r"}, {Reply: 9}} {
		if err := s.SaveDraft(t.Context(), id, d); err != nil {
			t.Fatal(err)
		}
		got, err := s.Draft(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "draft", got, d)
	}
	fails(t, "draft of a missing session", s.SaveDraft(t.Context(), NewID(), pawl.Draft{}), pawl.ErrNotFound)
	equal(t, "events in the log", len(log(t, s, id, 0)), 1)
}
