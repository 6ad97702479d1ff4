package pawl

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// at is a point in time that is easy to tell from the others.
func at(n Seq) time.Time { return time.Unix(1_700_000_000+int64(n), 0).UTC() }

func TestChangeOf(t *testing.T) {
	t.Parallel()
	usage := Usage{Input: 3, Output: 2}
	log := logOf(
		prompted(strings.Repeat("é", 200)), // 2
		SessionTitled{Title: "a title"},
		TurnStarted{Prompt: 2},
		Prompted{Parts: Parts{Text{"steer"}}, Settings: Settings{Model: "m"}},
		ReplyStarted{Step: 1},
		Replied{Step: 1, Usage: usage},
		Injected{Source: "user", Prompt: 5}, // 8
		Injected{Source: "max_steps", Text: "wrap up"},
		Replied{Step: 2, Usage: usage},
	)
	for i := range log {
		log[i].At = at(log[i].Seq)
	}
	log[0].Body = SessionCreated{Dir: "/project", Parent: "P"}
	var row Session
	row.Apply(ChangeOf(log))
	want := Session{
		Parent: "P", Dir: "/project", Title: "a title", Prompt: strings.Repeat("é", 150), Model: "m",
		Turns: 1, TurnOpen: true, Usage: usage.Add(usage), Created: at(1), Updated: at(9),
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	row.Apply(ChangeOf([]Event{{At: at(11), Body: TurnFinished{Usage: usage}}})) // its usage is in the replies already
	want.TurnOpen, want.Updated = false, at(11)
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
}

// However a log is cut into batches, the row comes out the same.
func TestChangeOfBatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log, _ := drawLog(t)
		for i := range log {
			log[i].At = at(log[i].Seq)
		}
		var whole, single, batched Session
		whole.Apply(ChangeOf(log))
		for _, e := range log {
			single.Apply(ChangeOf([]Event{e}))
		}
		for rest := log; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			batched.Apply(ChangeOf(rest[:n]))
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

// The row and the history are two folds of one log and agree.
func TestRowAgreesWithHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log, _ := drawLog(t)
		var h History
		for _, e := range log {
			if err := h.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		var row Session
		row.Apply(ChangeOf(log))
		got := Session{Dir: row.Dir, Turns: row.Turns, TurnOpen: row.TurnOpen, Queued: row.Queued, Model: row.Model}
		want := Session{Dir: h.Created().Dir, Turns: h.Turns(), TurnOpen: h.Open() != nil, Queued: len(h.Waiting()), Model: h.Settings().Model}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSessionState(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row  Session
		want State
	}{
		{Session{}, StateIdle},
		{Session{Queued: 1}, StateQueued},
		{Session{TurnOpen: true}, StateRunning},
		{Session{TurnOpen: true, Queued: 2}, StateRunning},
	} {
		if got := tt.row.State(); got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.row, got, tt.want)
		}
	}
}

func TestSessionName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row  Session
		want string
	}{
		{Session{}, ""},
		{Session{Prompt: "\n  fix it  \nplease"}, "fix it  "},
		{Session{Title: "a title", Prompt: "fix it"}, "a title"},
	} {
		if got := tt.row.Name(); got != tt.want {
			t.Errorf("%+v is called %q, want %q", tt.row, got, tt.want)
		}
	}
}

func TestSessionIDValid(t *testing.T) {
	t.Parallel()
	for id, want := range map[SessionID]bool{
		"01JD0000000000000000000000":  true,
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ":  true,
		"":                            false,
		"01JD000000000000000000000":   false, // short
		"01JD00000000000000000000000": false, // long
		"01jd0000000000000000000000":  false, // lower case
		"01JD000000000000000000000I":  false, // not of the alphabet
		"01JD000000000000000000000/":  false,
		"../../../../../etc/passwd.":  false,
		"01JD00000000000000000000é":   false,
		"01JD000000000000000000000\n": false,
	} {
		if got := id.Valid(); got != want {
			t.Errorf("%q: valid is %v, want %v", id, got, want)
		}
	}
}
