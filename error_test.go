package pawl

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want Code
	}{
		{ErrInvalid, CodeInvalid},
		{ErrNotFound, CodeNotFound},
		{ErrConflict, CodeConflict},
		{ErrBusy, CodeBusy},
		{ErrDenied, CodeDenied},
		{ErrUnavailable, CodeUnavailable},
		{fmt.Errorf("open session: %w", ErrNotFound), CodeNotFound},
		{&BusyError{Session: "S"}, CodeBusy},
		{fmt.Errorf("send: %w", &BusyError{Session: "S", Holder: "pid 7"}), CodeBusy},
		{errors.Join(errors.New("x"), ErrDenied), CodeDenied},
		{errors.New("not found"), CodeInternal},
		{context.Canceled, CodeInternal},
		{&Stop{Reason: ReasonError}, CodeInternal},
	}
	for _, tt := range tests {
		if got := CodeOf(tt.err); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"session S is busy: it has an open turn or prompts that wait": &BusyError{Session: "S"},
		"session S is busy: pid 7 works on it":                        &BusyError{Session: "S", Holder: "pid 7"},
		"max_steps":                                                   &Stop{Reason: ReasonMaxSteps},
		"error: the provider is gone":                                 &Stop{Reason: ReasonError, Fault: FaultModel, Message: "the provider is gone"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestStopOf(t *testing.T) {
	t.Parallel()
	gone := errors.New("the store is gone")
	denied := &Stop{Reason: ReasonPermissionDenied, Message: "rm"}
	tests := []struct {
		name   string
		reason Reason
		err    error
		want   Stop
		still  error // what comes back when the turn has not ended
	}{
		{"the loop came to its end", ReasonEndTurn, nil, Stop{Reason: ReasonEndTurn}, nil},
		{"a step stopped it", "", denied, *denied, nil},
		{"a step's stop counts, wrapped or not", ReasonEndTurn, fmt.Errorf("authorize: %w", denied), *denied, nil},
		{"the machinery failed", "", gone, Stop{}, gone},
		{"the machinery failed in words of its own", "", fmt.Errorf("append: %w", gone), Stop{}, gone},
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
