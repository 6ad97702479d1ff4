package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestTurnLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step, max int
		want      bool
	}{
		{1, 0, false}, {1000, 0, false}, {1, 2, false}, {2, 2, true}, {3, 2, true}, {1, 1, true},
	} {
		if got := (Turn{Step: tt.step, MaxSteps: tt.max}).Last(); got != tt.want {
			t.Errorf("step %d of %d: last is %v, want %v", tt.step, tt.max, got, tt.want)
		}
	}
}

func TestStopTexts(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"max_steps":                   &Stop{Reason: pawl.ReasonMaxSteps},
		"error: the provider is gone": &Stop{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "the provider is gone"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestStopOf(t *testing.T) {
	t.Parallel()
	storeErr := errors.New("the store is gone")
	denied := &Stop{Reason: pawl.ReasonPermissionDenied, Message: "rm"}
	tests := []struct {
		name   string
		reason pawl.Reason
		err    error
		want   Stop
		still  error // what comes back when the turn has not ended
	}{
		{"the loop came to its end", pawl.ReasonEndTurn, nil, Stop{Reason: pawl.ReasonEndTurn}, nil},
		{"a step stopped it", "", denied, *denied, nil},
		{"a step's stop counts, wrapped or not", pawl.ReasonEndTurn, fmt.Errorf("authorize: %w", denied), *denied, nil},
		{"the machinery failed", "", storeErr, Stop{}, storeErr},
		{"the machinery failed in words of its own", "", fmt.Errorf("append: %w", storeErr), Stop{}, storeErr},
		{"the context's end alone does not end a turn", "", context.Canceled, Stop{}, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := StopOf(tt.reason, tt.err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !errors.Is(err, tt.still) {
				t.Errorf("got error %v, want %v", err, tt.still)
			}
		})
	}
}
