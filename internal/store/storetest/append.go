package storetest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

func appendRoundTrip(t *testing.T, s store.Store) {
	first := create(t, s)
	id := first.Session
	given := []pawl.Event{titled("one"), {Turn: 7, At: dawn.Add(time.Hour), Body: pawl.TurnStarted{Prompt: 1}}}
	kept := slices.Clone(given)
	got := appended(t, s, id, 1, given...)

	want := []pawl.Event{first, given[0], given[1]}
	for i := range want {
		want[i].Session, want[i].Seq = id, pawl.Seq(i+1)
	}
	equal(t, "returned", got, want[1:])
	equal(t, "the caller's own events", given, kept)
	equal(t, "the log", log(t, s, id, 0), want)
	equal(t, "the log after 1", log(t, s, id, 1), want[1:])
	equal(t, "the log after its end", log(t, s, id, 3), []pawl.Event{})
}

// samples holds one body of every durable kind, with all fields set.
var samples = slices.Concat([]pawl.Body{
	pawl.SessionTitled{Title: "A title", ModelUsage: pawl.ModelUsage{Model: "small", Usage: pawl.Usage{Input: 1}}},
	pawl.SessionShared{With: []pawl.User{"bob", "eve"}, By: pawl.Actor{User: "ada", Token: "t"}},
	pawl.SessionSummarized{Summary: "All is well.", ModelUsage: pawl.ModelUsage{Model: "small", Usage: pawl.Usage{Input: 2}}},
	pawl.CompactionAsked{Instructions: "Keep the names."},
	pawl.Compacted{Asked: 3, Keep: 2, Text: "So far.", Task: "Go.", Files: []string{"a.go"}, Before: 10, After: 5, Message: "Oh.", ModelUsage: pawl.ModelUsage{Model: "m", Usage: pawl.Usage{Output: 3}}},
	pawl.UndoAsked{Undo: pawl.Undo{To: 2, Redo: 3, Scope: pawl.ScopeFiles, Conflicts: pawl.ConflictsLeave}},
	pawl.Undone{Asked: 5, Refused: "no", Changed: []string{"a.go"}, Aside: map[string]string{"a.go": "/aside/a.go"}, Left: []string{"b.go"}},
	pawl.ShellAsked{Command: "make", By: pawl.Actor{User: "ada"}},
	pawl.ShellStarted{Asked: 6, Snapshot: "4b825dc", Unsafe: "too large"},
	pawl.ShellRan{Asked: 6, Status: pawl.CallDone, Result: pawl.Result{Content: "made", Meta: map[string]string{"exit_code": "0"}}, Snapshot: "4b825dc"},
	pawl.Prompted{
		Parts:    pawl.Parts{pawl.Text{Text: "see <a> & b"}, pawl.File{Name: "a.png", MediaType: "image/png", Data: []byte{0, 255, 1}}},
		Delivery: pawl.DeliverQueue,
		By:       pawl.Actor{User: "ada"},
		Settings: pawl.Settings{Agent: "build", Model: "m", Mode: "ask", MaxSteps: 3, MaxCost: 4, Trusted: true, Absent: true, Tools: []string{"read"}},
	},
	pawl.TurnStarted{Prompt: 2},
	pawl.ReplyStarted{Step: 1, Model: "m"},
	pawl.Retried{Step: 1, Retry: pawl.Retry{Attempt: 1, Wait: time.Second, Model: "m", Kind: pawl.ErrorOverloaded, Message: "later"}},
	pawl.Replied{
		Step:  1,
		Model: "m",
		Agent: "build",
		Parts: pawl.Parts{
			pawl.Reasoning{Text: "hm", Signature: "sig"}, pawl.Text{Text: "I will look"},
			pawl.ToolCall{ID: "c1", Name: "read", Input: json.RawMessage(`{"path":"a","n":1e400}`), Signature: "s"},
		},
		Finish: pawl.FinishToolUse,
		Usage:  pawl.Usage{Input: 1, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5, Cost: 6},
	},
	pawl.CallStarted{Call: "c1", Tool: "read", Access: []pawl.Access{{Kind: pawl.AccessRead, Target: "a"}}, ReadOnly: true},
	pawl.Reworded{Prompt: 2, Parts: pawl.Parts{pawl.Text{Text: "other"}}},
	pawl.Withdrawn{Prompt: 2},
	pawl.Asked{Call: "c2", Ask: pawl.Ask{
		Kind: pawl.AskPlan, Text: "plan", Timeout: time.Second,
		Questions: []pawl.Question{{Header: "h", Question: "q?", Options: []pawl.Option{{Label: "l", Description: "d"}}, Multiple: true}},
		Offer:     []json.RawMessage{json.RawMessage(`{"tool":"bash"}`)}, Names: "n",
	}},
	pawl.Answered{Ask: 9, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"l", "m"}}, Text: "t", Always: []json.RawMessage{json.RawMessage(`{"tool":"bash"}`)}}},
	pawl.TodosSet{Call: "c3", Todos: []pawl.Todo{{ID: "1", Content: "c", Status: pawl.TodoPending, Priority: pawl.PriorityLow}}},
	pawl.ModeChanged{Call: "c4", Mode: "guard"},
	pawl.Spawned{Call: "c5", Subagent: "01JD0000000000000000000001", Agent: "explore", Title: "t", Background: true},
	pawl.CallFinished{Call: "c1", Status: pawl.CallDone, Result: pawl.Result{
		Content: "text", Files: []pawl.File{{Name: "a", MediaType: "b", Data: []byte{1}}}, Seen: map[string]string{"a": "b"},
		Display: pawl.Parts{pawl.Patch{Path: "a", Diff: "-x\n+y\n"}}, Meta: map[string]string{"exit_code": "0"},
		IsError: true, Full: &pawl.Blob{ID: "ab", Size: 9},
	}},
	pawl.Injected{Source: "user", Prompt: 2, Text: "more"},
	pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "no", Steps: 1, Usage: pawl.Usage{Input: 1}},
}, missionSamples)

func appendEveryKind(t *testing.T, s store.Store) {
	events := []pawl.Event{event(pawl.SessionCreated{Dir: "/w", Parent: NewID(), ParentCall: "c0", Owner: "ada"})}
	for _, b := range samples {
		events = append(events, event(b))
	}
	for _, k := range pawl.Kinds() {
		has := slices.ContainsFunc(events, func(e pawl.Event) bool { return pawl.KindOf(e.Body) == k })
		if k.Durable() && !has {
			t.Errorf("the suite has no sample of %s: add one to samples", k)
		}
	}
	id := NewID()
	got := appended(t, s, id, 0, events...)
	for i := range events {
		events[i].Session, events[i].Seq = id, pawl.Seq(i+1)
	}
	equal(t, "returned", got, events)
	equal(t, "the log", log(t, s, id, 0), events)
}

func appendCounts(t *testing.T, s store.Store) {
	id := create(t, s).Session
	head := pawl.Seq(1)
	for size := range 10 {
		var batch []pawl.Event
		for range size + 1 {
			batch = append(batch, titled("batch %d", size))
		}
		appended(t, s, id, head, batch...)
		head += pawl.Seq(len(batch))
		equal(t, "head", row(t, s, id).Head, head)
	}
	for i, e := range log(t, s, id, 0) {
		equal(t, "seq", e.Seq, pawl.Seq(i+1))
	}
}

func appendTimes(t *testing.T, s store.Store) {
	id := create(t, s).Session
	zone := time.FixedZone("east", 5*3600)
	for i, at := range []time.Time{
		time.Date(2026, 7, 1, 12, 0, 0, 123_456_789, zone),
		time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Now(), // has a monotonic clock reading
		{},
	} {
		after := pawl.Seq(i + 1)
		returned := appended(t, s, id, after, pawl.Event{At: at, Body: pawl.SessionTitled{}})[0].At
		read := log(t, s, id, after)[0].At
		updated := row(t, s, id).Updated
		want := at.UTC().Truncate(time.Microsecond)
		for _, got := range []time.Time{returned, read, updated} {
			if got != want { // not Equal: the time zone must match too
				t.Fatalf("%v was kept as %#v, want %#v", at, got, want)
			}
		}
	}
}

func appendRefuses(t *testing.T, s store.Store) {
	id := create(t, s).Session
	created := event(pawl.SessionCreated{Dir: "/w"})
	for _, c := range []struct {
		name   string
		id     pawl.SessionID
		after  pawl.Seq
		events []pawl.Event
	}{
		{"nothing", id, 1, nil},
		{"no body", id, 1, []pawl.Event{{At: dawn}}},
		{"a delta", id, 1, []pawl.Event{event(pawl.Delta{Text: "a"})}},
		{"progress among others", id, 1, []pawl.Event{titled("a"), event(pawl.Progress{Call: "c"})}},
		{"a negative seq", id, -1, []pawl.Event{titled("a")}},
		{"a second beginning", id, 1, []pawl.Event{created}},
		{"two beginnings", NewID(), 0, []pawl.Event{created, created}},
		{"no beginning", NewID(), 0, []pawl.Event{titled("a")}},
		{"no id", "", 0, []pawl.Event{created}},
		{"an id that is a path", "../../../../../../etc/12345", 0, []pawl.Event{created}},
	} {
		_, err := s.Append(t.Context(), c.id, c.after, c.events...)
		fails(t, c.name, err, pawl.ErrInvalid)
	}
	equal(t, "events in the log", len(log(t, s, id, 0)), 1)
	sessions, err := s.Sessions(t.Context(), pawl.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "sessions", len(sessions.Sessions), 1)
}

// appendUnreadable checks that a store rejects bodies that it could not decode again,
// which would make the whole session unreadable.
func appendUnreadable(t *testing.T, s store.Store) {
	id := create(t, s).Session
	for _, input := range []string{`{"a":1,"a":2}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":"\u0000"}`, `{`, ``} {
		head := row(t, s, id).Head
		call := pawl.ToolCall{ID: "c", Name: "read", Input: json.RawMessage(input)}
		got, err := s.Append(t.Context(), id, head, event(pawl.Replied{Parts: pawl.Parts{call}}))
		if err != nil {
			fails(t, input, err, pawl.ErrInvalid)
		}
		equal(t, input, log(t, s, id, head), got)
	}
}

func appendAllOrNothing(t *testing.T, s store.Store) {
	id := create(t, s).Session
	appended(t, s, id, 1, titled("theirs"))
	before := row(t, s, id)
	_, err := s.Append(t.Context(), id, 1, titled("a"), titled("b"), titled("c"))
	fails(t, "a batch from an old head", err, pawl.ErrConflict)
	_, err = s.Append(t.Context(), id, 2, titled("a"), event(pawl.Delta{}), titled("c"))
	fails(t, "a batch with a bad event", err, pawl.ErrInvalid)
	equal(t, "events in the log", len(log(t, s, id, 0)), 2)
	equal(t, "the row", row(t, s, id), before)
}

func appendCanceled(t *testing.T, s store.Store) {
	id := create(t, s).Session
	before := row(t, s, id)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Append(ctx, id, 1, titled("a"))
	fails(t, "append", err, context.Canceled)
	equal(t, "events in the log", len(log(t, s, id, 0)), 1)
	equal(t, "the row", row(t, s, id), before)
	appended(t, s, id, 1, titled("b"))
}
