package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// job is the job of the session under test.
var job = Job{Session: "s"}

func TestSteps(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ends)
}

// A host that does not start its step is lost: another host is used.
func TestHostLost(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = fails(notTaken)
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, "Place, lost is h1", "Think 2 h2 runs c again", "Finish h2 end_turn")
}

// A host that missed heartbeats in mid-step may be back: only the outcome of the step is unknown.
func TestHostSilent(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = fails(silent)
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, "Place, lost is h1", "Think 2 h2 runs c again", "Finish h2 end_turn")
}

// Without another host, the lost one may be used again, as it may be back.
func TestLostAndNowhereElse(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.place = func(n int, lost string) (Place, error) {
		if lost != "" {
			return Place{}, encodeError(pawl.ErrUnavailable)
		}
		return Place{Host: "h1", Dir: "/w", Epoch: 1}, nil
	}
	c.on[thinks] = fails(notTaken)
	ok(t, c.run(job))
	c.check("Place", begins, thinks, "Place, lost is h1", "Place", "Think 1 h1 again", answers, ends)
}

// A draining host loses the workspace after the current step.
func TestLeave(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[thinks] = func(context.Context, StepRequest) (StepResult, error) {
		out, err := c.usual("Think", StepRequest{Turn: agent.Turn{Step: 1}})
		out.Leave = true
		return out, err
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, "Place", "Think 2 h2 runs c", "Finish h2 end_turn")
}

// waitsOnce returns a step that has to wait for a person, the first time.
func (c *fakeWorkers) waitsOnce(until time.Time) func(context.Context, StepRequest) (StepResult, error) {
	asked := false
	return func(_ context.Context, t StepRequest) (StepResult, error) {
		if asked {
			return c.usual("Think", t)
		}
		asked = true
		return StepResult{Waits: true, Until: until}, nil
	}
}

func TestParkedAndWoken(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = c.waitsOnce(time.Time{})
	c.env.RegisterDelayedCallback(func() { c.env.SignalWorkflow(signalWake, nil) }, 48*time.Hour)
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, answers, ends)
	if c.took() < 48*time.Hour {
		t.Errorf("it went on after %s, and nobody had said anything", c.took())
	}
}

func TestParkedUntil(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = c.waitsOnce(c.env.Now().Add(3 * time.Hour))
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, answers, ends)
	if got := c.took().Round(time.Minute); got != 3*time.Hour {
		t.Errorf("it went on after %s, want 3 hours", got)
	}
}

// An answer that arrived while the step was returning is not waited for.
func TestAnsweredOnTheWayBack(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	parks := c.waitsOnce(time.Time{})
	c.on[answers] = func(ctx context.Context, req StepRequest) (StepResult, error) {
		out, err := parks(ctx, req)
		if out.Waits {
			c.env.SignalWorkflowSkippingWorkflowTask(signalWake, nil)
		}
		return out, err
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, answers, ends)
}

// A wake signal that arrives with the last completion, in one workflow task, is not lost: the host may have
// read the log before the prompt was there.
func TestWakeWithTheEnd(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[ends] = func(context.Context, StepRequest) (StepResult, error) {
		c.env.SignalWorkflowSkippingWorkflowTask(signalWake, nil)
		return StepResult{}, nil
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ends, begins)
}

// A wake signal from before the host read the log needs no further step.
func TestWakeBeforeTheEnd(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = func(context.Context, StepRequest) (StepResult, error) {
		c.env.SignalWorkflowSkippingWorkflowTask(signalWake, nil)
		return c.usual("Think", StepRequest{Turn: agent.Turn{Step: 2}})
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ends)
}

// The next turn is returned by Finish of the previous one.
func TestNextTurn(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[ends] = func(_ context.Context, req StepRequest) (StepResult, error) {
		if req.Turn.Number == 2 {
			return StepResult{}, nil
		}
		return StepResult{Turn: agent.Turn{Session: "s", Number: 2, Prompt: 9}}, nil
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ends, thinks, answers, ends)
}

// A final error is not retried, and the workflow fails.
func TestFinal(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"not found": pawl.ErrNotFound, "invalid": pawl.ErrInvalid} {
		t.Run(name, func(t *testing.T) {
			c := newFakeWorkers(t)
			c.on[thinks] = fails(encodeError(cause))
			if err := c.run(job); err == nil {
				t.Error("the workflow has not failed")
			}
			c.check("Place", begins, thinks)
		})
	}
	t.Run("place", func(t *testing.T) {
		c := newFakeWorkers(t)
		c.place = func(int, string) (Place, error) { return Place{}, encodeError(pawl.ErrNotFound) }
		if err := c.run(job); err == nil {
			t.Error("the workflow has not failed")
		}
		c.check("Place")
	})
}

// A Stop is passed on completely.
func TestStop(t *testing.T) {
	t.Parallel()
	stop := agent.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "no credit", UpTo: 7}
	c := newFakeWorkers(t)
	c.on[thinks] = fails(encodeError(&stop))
	var got agent.Stop
	c.on["Finish h1 error"] = func(_ context.Context, req StepRequest) (StepResult, error) {
		got = *req.Stop
		return StepResult{}, nil
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, "Finish h1 error")
	if got != stop {
		t.Errorf("the turn ends with %+v, want %+v", got, stop)
	}
}

// A lasting fault ends the workflow after retryTimeout, and not before.
func TestPatience(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.place = func(int, string) (Place, error) { return Place{Host: "h1", Dir: "/w", Epoch: 1}, nil }
	c.on[thinks] = fails(errors.New("the disk is full"))
	c.on[thinks+" again"] = c.on[thinks]
	if err := c.run(job); err == nil {
		t.Fatal("the workflow has not failed")
	}
	if took := c.took(); took < retryTimeout || took > retryTimeout+2*maxBackoff {
		t.Errorf("it gave up after %s, want %s", took, retryTimeout)
	}
	if n := c.count("Finish h1 error"); n > 0 {
		t.Error("the turn was ended, though the next workflow could go on with it")
	}
	if n, most := c.count(thinks+" again"), int(retryTimeout/maxBackoff)+10; n > most {
		t.Errorf("%d tries, want at most %d", n, most)
	}
}

// Calls after which no reply is requested get an activity of their own.
func TestActs(t *testing.T) {
	t.Parallel()
	t.Run("with the last words", func(t *testing.T) {
		c := newFakeWorkers(t)
		c.on[thinks] = func(context.Context, StepRequest) (StepResult, error) {
			return StepResult{Reply: agent.Reply{Finish: pawl.FinishEndTurn, Calls: []pawl.CallID{"c", "d"}}}, nil
		}
		ok(t, c.run(job))
		c.check("Place", begins, thinks, "Act 1 h1 runs c runs d", "Settle 1 h1", ends)
	})
	t.Run("with the last step", func(t *testing.T) {
		c := newFakeWorkers(t)
		c.on[begins] = func(context.Context, StepRequest) (StepResult, error) {
			short := oneTurn
			short.MaxSteps = 1
			return StepResult{Turn: short}, nil
		}
		ok(t, c.run(job))
		c.check("Place", begins, thinks, "Act 1 h1 runs c", "Finish h1 max_steps")
	})
}

// A long history is left in mid-turn, and the next workflow continues with the next step.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[thinks] = func(_ context.Context, t StepRequest) (StepResult, error) {
		c.env.SetContinueAsNewSuggested(true)
		return c.usual("Think", t)
	}
	err := c.run(Job{Session: "s", Tenant: "acme"})
	var anew *workflow.ContinueAsNewError
	if !errors.As(err, &anew) {
		t.Fatalf("the workflow ended with %v, want that it goes on anew", err)
	}
	c.check("Place", begins, thinks)

	c = newFakeWorkers(t)
	c.env.SetContinueAsNewSuggested(true) // it takes a step even then
	c.on[begins] = func(context.Context, StepRequest) (StepResult, error) {
		return StepResult{Turn: oneTurn, Taken: 1}, nil
	}
	ok(t, c.run(job))
	c.check("Place", begins, "Think 2 h1", ends)
}

// A cancel that arrives with the last step before continue-as-new is not lost.
func TestContinueAsNewAndCanceled(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[thinks] = func(_ context.Context, t StepRequest) (StepResult, error) {
		c.env.SetContinueAsNewSuggested(true)
		c.env.SignalWorkflowSkippingWorkflowTask(signalCancel, pawl.Seq(2))
		return c.usual("Think", t)
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, "Finish h1 canceled canceled to 2")
}
