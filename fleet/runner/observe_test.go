package runner

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

func TestResultOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		out  StepResult
		err  error
	}{
		{want: "ok"},
		{want: "waits", out: StepResult{Waits: true}},
		{want: "stop", err: fmt.Errorf("act: %w", &agent.Stop{Reason: pawl.ReasonCanceled})},
		{want: "moved", err: fmt.Errorf("workspace /w: %w", errMoved)},
		{want: "moved", err: fmt.Errorf("save /w: %w", pawl.ErrConflict)},
		{want: "full", err: errors.Join(fmt.Errorf("%w: %w", errFull, pawl.ErrUnavailable))},
		{want: "error", err: pawl.ErrUnavailable},
	} {
		if got := resultOf(c.out, c.err); got != c.want {
			t.Errorf("%+v, %v is %s, want %s", c.out, c.err, got, c.want)
		}
	}
}

// TestObserve: a failed operation has no size.
func TestObserve(t *testing.T) {
	t.Parallel()
	var observed []string
	s := &Workspaces{Observe: func(kind, result string, d time.Duration, bytes int64) {
		observed = append(observed, fmt.Sprint(kind, " ", result, " ", d >= 0, " ", bytes))
	}}
	s.observe(spaceSave, time.Now(), 7, nil)
	s.observe(spaceRestore, time.Now(), 7, errors.New("no"))
	if diff := cmp.Diff([]string{"save ok true 7", "restore error true 0"}, observed); diff != "" {
		t.Error(diff)
	}
	(&Workspaces{}).observe(spaceSave, time.Now(), 7, nil) // without Observe nothing happens
}
