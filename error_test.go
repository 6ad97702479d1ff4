package pawl

import (
	"context"
	"errors"
	"fmt"
	"testing"
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
		"session S is busy: a turn is running or prompts are queued": &BusyError{Session: "S"},
		"session S is busy: pid 7 is working on it":                  &BusyError{Session: "S", Holder: "pid 7"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
