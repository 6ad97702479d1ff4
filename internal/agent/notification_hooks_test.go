package agent

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestEnded: hooks learn whether a mission is sealed or blocked.
func TestEnded(t *testing.T) {
	t.Parallel()
	stop := Stop{Reason: pawl.ReasonEndTurn}
	for want, m := range map[string]*pawl.Mission{
		"Pawl is waiting for you: the turn ended (end_turn)":          nil,
		"Pawl is waiting for you: the mission is sealed":              {Sealed: &pawl.Sealed{}},
		"Pawl is waiting for you: the mission is blocked: what word?": {Blocked: &pawl.Blocked{Reason: "what word?"}},
	} {
		if got := endText(m, stop); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := endText(&pawl.Mission{}, stop); got != "Pawl is waiting for you: the turn ended (end_turn)" {
		t.Errorf("a mission that was stopped: %q", got)
	}
}
