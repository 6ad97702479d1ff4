package pawl

import (
	"strings"
	"testing"
)

// TestPause checks that no worker starts after a pause, before the turn of a later prompt.
func TestPause(t *testing.T) {
	t.Parallel()
	begun := sealedMission()[:8] // two tasks are queued
	text := Parts{Text{"x"}}
	pause := Prompted{Parts: text, Delivery: DeliverSteer, Pause: true}
	end := TurnFinished{Reason: ReasonEndTurn}
	for name, c := range map[string]struct {
		then []Body
		want string // "" means that it is a valid log
	}{
		"not paused":                   {[]Body{started("one")}, ""},
		"at once":                      {[]Body{pause, started("one")}, "the mission is paused"},
		"when the Commander has it":    {[]Body{pause, Injected{Source: "user", Prompt: 9}, started("one")}, "the mission is paused"},
		"a worker that runs finishes":  {[]Body{started("one"), pause, TaskMerged{Task: "one", Attempt: 1, Commit: "c1"}}, ""},
		"another steering prompt":      {[]Body{pause, Prompted{Parts: text, Delivery: DeliverSteer}, Injected{Source: "user", Prompt: 10}, started("one")}, "the mission is paused"},
		"the turn of a later prompt":   {[]Body{pause, Injected{Source: "user", Prompt: 9}, end, Prompted{Parts: text}, TurnStarted{Prompt: 12}, started("one")}, ""},
		"that of an earlier one":       {[]Body{Prompted{Parts: text, Delivery: DeliverQueue}, pause, Injected{Source: "user", Prompt: 10}, end, TurnStarted{Prompt: 9}, started("one")}, "the mission is paused"},
		"its own turn, after a cancel": {[]Body{pause, end, TurnStarted{Prompt: 9}, started("one")}, "the mission is paused"},
	} {
		_, err := foldEvents(eventsOf(append(begun[:len(begun):len(begun)], c.then...)...))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
