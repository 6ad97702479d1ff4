package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// stalls is a stepper whose Generate lasts until its context ends.
type stalls struct {
	Stepper
	began chan context.Context
}

func (s stalls) Prepare(context.Context, agent.Turn) error { return nil }

func (s stalls) Generate(ctx context.Context, _ agent.Turn) (agent.Reply, error) {
	s.began <- ctx
	<-ctx.Done()
	return agent.Reply{}, context.Cause(ctx)
}

func (stalls) Interrupt(pawl.SessionID, pawl.Seq) {}
func (stalls) Forget(pawl.SessionID)              {}

func stalled(t *testing.T) (*Executor, stalls, func(StepRequest) error) {
	t.Helper()
	s := stalls{began: make(chan context.Context, 100)}
	h := &Executor{Stepper: s, Workspaces: &Workspaces{Host: "here", Registry: oneHost{}, Dir: t.TempDir()}}
	var suite testsuite.WorkflowTestSuite
	dir := t.TempDir()
	return h, s, func(req StepRequest) error {
		req.Session, req.Place = "s", Place{Host: "here", Dir: dir, Epoch: 1}
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(h)
		_, err := env.ExecuteActivity(h.Think, req)
		return decodeError(err)
	}
}

// canceledTurn fails unless a person's cancel ended the step.
func canceledTurn(t *testing.T, err error) {
	t.Helper()
	var stop *agent.Stop
	if !errors.As(err, &stop) || stop.Reason != pawl.ReasonCanceled {
		t.Errorf("the step ended with %v, want that it was canceled", err)
	}
}

func interrupted(t *testing.T, h *Executor, upTo pawl.Seq) {
	t.Helper()
	_, err := h.Interrupt(t.Context(), StepRequest{Job: Job{Session: "s", Canceled: upTo}})
	ok(t, err)
}

// TestInterrupt: a step ends whether its cancel comes before it, with it or after it.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	turn := agent.Turn{Session: "s", Number: 1, Prompt: 5, Step: 1}
	t.Run("before", func(t *testing.T) {
		h, _, think := stalled(t)
		interrupted(t, h, 5)
		canceledTurn(t, think(StepRequest{Turn: turn}))
	})
	t.Run("with it", func(t *testing.T) {
		_, _, think := stalled(t)
		canceledTurn(t, think(StepRequest{Job: Job{Canceled: 5}, Turn: turn}))
	})
	t.Run("after", func(t *testing.T) {
		h, s, think := stalled(t)
		var group sync.WaitGroup
		group.Go(func() { canceledTurn(t, think(StepRequest{Turn: turn})) })
		step := <-s.began
		interrupted(t, h, 4) // of an earlier prompt
		if step.Err() != nil {
			t.Error("a cancel of what came before has ended it")
		}
		interrupted(t, h, 5)
		group.Wait()
	})
	t.Run("at any moment", func(t *testing.T) {
		h, _, think := stalled(t)
		for n := pawl.Seq(1); n <= 30; n++ {
			var group sync.WaitGroup
			group.Go(func() { canceledTurn(t, think(StepRequest{Turn: agent.Turn{Session: "s", Prompt: n, Step: 1}})) })
			group.Go(func() { interrupted(t, h, n) })
			group.Wait()
		}
		if len(h.running) != 0 {
			t.Errorf("%d steps are remembered", len(h.running))
		}
		h.forget("s")
		if len(h.canceled) != 0 {
			t.Errorf("%d cancels are remembered", len(h.canceled))
		}
	})
}

// TestInterruptBoth: a timed-out attempt is still running when the next one starts. A cancel ends both, in
// either order.
func TestInterruptBoth(t *testing.T) {
	t.Parallel()
	h, s, think := stalled(t)
	var group sync.WaitGroup
	for _, again := range []bool{false, true} {
		group.Go(func() {
			canceledTurn(t, think(StepRequest{Turn: agent.Turn{Session: "s", Prompt: 5, Step: 1}, Again: again}))
		})
		<-s.began
	}
	interrupted(t, h, 5)
	group.Wait()
	if len(h.running) != 0 {
		t.Errorf("%d steps are remembered", len(h.running))
	}
}

// TestEncodeError: decodeError restores what encodeError was given.
func TestEncodeError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		final bool
	}{
		"stop":      {&agent.Stop{Reason: pawl.ReasonError, Message: "m"}, true},
		"not found": {pawl.ErrNotFound, true},
		"invalid":   {pawl.ErrInvalid, true},
		"canceled":  {temporal.NewCanceledError(), false}, // as a step's own error it is a fault
		"conflict":  {pawl.ErrConflict, false},
		"moved":     {errMoved, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := final(decodeError(encodeError(test.err))); got != test.final {
				t.Errorf("final is %v, want %v", got, test.final)
			}
		})
	}
	ok(t, encodeError(nil))
}

// TestNotifyFailure: clients learn why a session makes no progress, if no other host can help.
func TestNotifyFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"it may pass": {fmt.Errorf("no answer: %w", pawl.ErrUnavailable), []string{"s: no answer: unavailable (retrying)"}},
		"it stays so": {fmt.Errorf("no repository: %w", pawl.ErrInvalid), []string{"s: no repository: invalid"}},
		"moved":       {fmt.Errorf("workspace /w: %w", errMoved), nil},
		"full":        {errors.Join(errFull, pawl.ErrUnavailable), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			h := &Executor{Notify: func(id pawl.SessionID, text string) { got = append(got, string(id)+": "+text) }}
			h.notifyFailure("s", c.err)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("told (- want, + got):\n%s", d)
			}
		})
	}
}
