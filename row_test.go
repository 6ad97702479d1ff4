package pawl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// at returns a time that differs for each n.
func at(n pawl.Seq) time.Time { return time.Unix(1_700_000_000+int64(n), 0).UTC() }

func TestChangeOf(t *testing.T) {
	t.Parallel()
	usage := pawl.Usage{Input: 3, Output: 2}
	log := pawl.LogOf(
		pawl.PromptOf(strings.Repeat("é", 200)), // 2
		pawl.SessionTitled{Title: "a title"},
		pawl.TurnStarted{Prompt: 2},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{"steer"}}, Settings: pawl.Settings{Model: "m"}},
		pawl.ReplyStarted{Step: 1},
		pawl.Replied{Step: 1, Usage: usage},
		pawl.Injected{Source: "user", Prompt: 5}, // 8
		pawl.Injected{Source: "max_steps", Text: "wrap up"},
		pawl.Replied{Step: 2, Usage: usage},
	)
	for i := range log {
		log[i].At = at(log[i].Seq)
	}
	log[0].Body = pawl.SessionCreated{Dir: "/project", Parent: "P"}
	var row pawl.Session
	store.ChangeOf(log).Apply(&row)
	want := pawl.Session{
		Parent: "P", Dir: "/project", Title: "a title", Prompt: strings.Repeat("é", 150), Model: "m",
		Turns: 1, TurnOpen: true, TurnAt: 4, Usage: usage.Add(usage), Created: at(1), Updated: at(9),
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	store.ChangeOf([]pawl.Event{{At: at(11), Body: pawl.TurnFinished{Usage: usage}}}).Apply(&row) // its usage is already counted in the replies
	want.TurnOpen, want.Updated = false, at(11)
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
}

// TestChangeOfBatches checks that the row does not depend on how the log is split
// into batches.
func TestChangeOfBatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log, _ := pawl.DrawLog(t)
		for i := range log {
			log[i].At = at(log[i].Seq)
		}
		var whole, single, batched pawl.Session
		store.ChangeOf(log).Apply(&whole)
		for _, e := range log {
			store.ChangeOf([]pawl.Event{e}).Apply(&single)
		}
		for rest := log; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			store.ChangeOf(rest[:n]).Apply(&batched)
			rest = rest[n:]
		}
		if diff := cmp.Diff(single, whole); diff != "" {
			t.Errorf("at once: %s", diff)
		}
		if diff := cmp.Diff(single, batched); diff != "" {
			t.Errorf("in batches: %s", diff)
		}
	})
}

// TestRowAgreesWithHistory checks that the row and the history, two folds of the same
// log, agree.
func TestRowAgreesWithHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log, _ := pawl.DrawLog(t)
		var h pawl.History
		for _, e := range log {
			if err := h.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		var row pawl.Session
		store.ChangeOf(log).Apply(&row)
		got := pawl.Session{Dir: row.Dir, Turns: row.Turns, TurnOpen: row.TurnOpen, Queued: row.Queued, Model: row.Model}
		want := pawl.Session{Dir: h.Created().Dir, Turns: h.Turns(), TurnOpen: h.Open() != nil, Queued: len(h.Waiting()), Model: h.Settings().Model}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRowCountsOrders checks that the row counts the user's requests until they are
// carried out.
func TestRowCountsOrders(t *testing.T) {
	t.Parallel()
	var row pawl.Session
	for i, step := range []struct {
		body pawl.Body
		want int
	}{
		{pawl.ShellAsked{Command: "ls"}, 1},
		{pawl.CompactionAsked{}, 2},
		{pawl.ShellStarted{Asked: 1}, 2},
		{pawl.ShellRan{Asked: 1}, 1},
		{pawl.Compacted{Asked: 2}, 0},
	} {
		store.ChangeOf([]pawl.Event{{Body: step.body}}).Apply(&row)
		if row.Queued != step.want {
			t.Errorf("step %d: %d queued, want %d", i, row.Queued, step.want)
		}
	}
}
