package pawl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFinishReason(t *testing.T) {
	t.Parallel()
	for finish, want := range map[Finish]Reason{
		FinishEndTurn:   ReasonEndTurn,
		FinishToolUse:   ReasonEndTurn, // a reply that says tool_use and calls nothing
		FinishMaxTokens: ReasonMaxTokens,
		FinishCanceled:  ReasonCanceled,
	} {
		if got := finish.Reason(); got != want {
			t.Errorf("%s ends a turn as %s, want %s", finish, got, want)
		}
	}
}

func TestUsageAdd(t *testing.T) {
	t.Parallel()
	u := Usage{Input: 1, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5, Cost: 6}
	if diff := cmp.Diff(Usage{Input: 2, Output: 4, Reasoning: 6, CacheRead: 8, CacheWrite: 10, Cost: 12}, u.Add(u)); diff != "" {
		t.Error(diff)
	}
	if got := Money(1_500_000_000).Dollars(); got != 1.5 {
		t.Errorf("got %v dollars, want 1.5", got)
	}
}
