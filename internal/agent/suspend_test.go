package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// unending is a service whose sessions are at work until nobody listens any more.
type unending struct{ pawl.Service }

func (unending) Get(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
	return pawl.Session{ID: id, Queued: 1}, nil
}

func (unending) Resume(context.Context, pawl.SessionID) error { return pawl.ErrBusy }

func (unending) Events(ctx context.Context, _ pawl.SessionID, _ pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(func(pawl.Event, error) bool) { <-ctx.Done() }
}

// Who waits for subagents gives its place away after a while, where somebody waits
// elsewhere, and only there.
func TestAwaitAny_Parks(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := NewStepper(Config{Service: unending{}, Suspend: true, SuspendAfter: time.Nanosecond, Clock: func() time.Time { return at }})
	var suspended *Suspended
	if err := s.awaitAnySubagent(t.Context(), []pawl.SessionID{"a", "b"}); !errors.As(err, &suspended) {
		t.Fatalf("got %v, want that it parks", err)
	}
	if diff := cmp.Diff(&Suspended{Until: at.Add(maxSuspended)}, suspended); diff != "" {
		t.Errorf("suspended (-want +got):\n%s", diff)
	}
	s.Suspend = false
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	if err := s.awaitAnySubagent(ctx, []pawl.SessionID{"a"}); !errors.Is(err, errTest) {
		t.Errorf("got %v, want that it waits", err)
	}
}

var errTest = errors.New("the test ends it")

func TestMissionJournal_Suspend(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		suspend bool
		waited  time.Duration
		most    time.Duration
		want    time.Duration // 0 means that it goes on
	}{
		"nobody waits elsewhere": {false, time.Hour, time.Hour, 0},
		"not long yet":           {true, defaultSuspendAfter - 1, time.Hour, 0},
		"long":                   {true, defaultSuspendAfter, time.Hour, maxSuspended},
		"not for so long":        {true, time.Hour, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStepper(Config{Suspend: tt.suspend, Clock: func() time.Time { return at }})
			err := missionJournal{s, &journal{}}.Suspend(at.Add(-tt.waited), tt.most)
			var suspended *Suspended
			if got := errors.As(err, &suspended); got != (tt.want > 0) || got && !suspended.Until.Equal(at.Add(tt.want)) {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// What mission control could not reach is tried again by runners that do that; all
// else of its errors ends the turn.
func TestMissionFault(t *testing.T) {
	t.Parallel()
	away, suspended := fmt.Errorf("no store: %w", pawl.ErrUnavailable), &Suspended{Ask: 1}
	var stop *Stop
	for name, tt := range map[string]struct {
		suspend bool
		err     error
		same    bool
	}{
		"suspended":            {true, fmt.Errorf("wait: %w", suspended), false},
		"away, tried again":    {true, away, true},
		"away, not":            {false, away, false},
		"broken":               {true, errTest, false},
		"a stop of its own":    {true, &Stop{Reason: pawl.ReasonBudget}, true},
		"nothing has happened": {true, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewStepper(Config{Suspend: tt.suspend}).missionFault(t.Context(), tt.err)
			switch {
			case tt.same:
				if got != tt.err { //nolint:errorlint // the very same
					t.Errorf("got %v", got)
				}
			case name == "suspended":
				if got != error(suspended) { //nolint:errorlint // the very same
					t.Errorf("got %v", got)
				}
			case !errors.As(got, &stop) || stop.Reason != pawl.ReasonError:
				t.Errorf("got %v, want a stop", got)
			}
		})
	}
}
