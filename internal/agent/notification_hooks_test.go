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
		"pawl waits for you: the turn has ended (end_turn)":      nil,
		"pawl waits for you: the mission is sealed":              {Sealed: &pawl.Sealed{}},
		"pawl waits for you: the mission is blocked: what word?": {Blocked: &pawl.Blocked{Reason: "what word?"}},
	} {
		if got := endText(m, stop); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := endText(&pawl.Mission{}, stop); got != "pawl waits for you: the turn has ended (end_turn)" {
		t.Errorf("a mission that was stopped: %q", got)
	}
}
