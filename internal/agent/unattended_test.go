package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// TestUnattended checks that an ask without a timeout is closed when nobody is there to answer.
func TestUnattended(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	asked := 0
	w := newEnv(t, setup{
		script: slices.Concat(times(8, looks), times(1, wraps)), tools: blind(),
	})
	w.Unattended = func(since time.Time) bool {
		if asked++; since.Before(begun) {
			t.Errorf("the ask is waited for since %s, before it was put", since)
		}
		return asked > 1 // somebody is there at first
	}
	w.prompt("go")
	w.mustTurn(pawl.ReasonLoop)
	if asked != 2 {
		t.Errorf("it looked %d times whether somebody is there, want 2", asked)
	}
	asks := slices.DeleteFunc(w.events(), func(e pawl.Event) bool { return pawl.KindOf(e.Body) != "asked" })
	check(t, []pawl.Body{pawl.Answered{Ask: asks[0].Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeTimeout}}}, w.bodies(pawl.Answered{}))
}
