package runner

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// cancels returns a step during which the turn is canceled; it ends when its host is interrupted.
func (c *fakeWorkers) cancels(interrupt string) func(context.Context, StepRequest) (StepResult, error) {
	interrupted := make(chan struct{})
	c.on[interrupt] = func(context.Context, StepRequest) (StepResult, error) {
		close(interrupted)
		return StepResult{}, nil
	}
	return func(context.Context, StepRequest) (StepResult, error) {
		c.env.SignalWorkflow(signalCancel, pawl.Seq(2))
		<-interrupted
		return StepResult{}, encodeError(&agent.Stop{Reason: pawl.ReasonCanceled})
	}
}

const (
	interrupts = "Interrupt h1 canceled to 2"
	ended      = "Finish h1 canceled canceled to 2"
)

// A cancel interrupts the host that runs the step at once, and the end of the turn records which prompts it canceled.
func TestCancelAtWork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		during string
		want   []string
	}{
		"thinking": {thinks, []string{"Place", begins, thinks, interrupts, ended}},
		"acting":   {answers, []string{"Place", begins, thinks, answers, interrupts, ended}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFakeWorkers(t)
			c.on[test.during] = c.cancels(interrupts)
			var stop agent.Stop
			c.on[ended] = func(_ context.Context, req StepRequest) (StepResult, error) {
				stop = *req.Stop
				return StepResult{}, nil
			}
			ok(t, c.run(job))
			c.check(test.want...)
			if want := (agent.Stop{Reason: pawl.ReasonCanceled, UpTo: 2}); stop != want {
				t.Errorf("the turn ends with %+v, want %+v", stop, want)
			}
		})
	}
}

// A turn is canceled even if its step completes.
func TestCancelTooLateForTheHost(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = func(context.Context, StepRequest) (StepResult, error) {
		c.env.SignalWorkflowSkippingWorkflowTask(signalCancel, pawl.Seq(2))
		return c.usual("Think", StepRequest{Turn: agent.Turn{Step: 2}})
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ended)
}

func TestCancelParked(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[answers] = c.waitsOnce(time.Time{})
	c.env.RegisterDelayedCallback(func() { c.env.SignalWorkflow(signalCancel, pawl.Seq(2)) }, time.Hour)
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ended)
}

// A cancel between two turns ends the second one before it begins.
func TestCancelBetweenTurns(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[ends] = func(context.Context, StepRequest) (StepResult, error) {
		c.env.SignalWorkflowSkippingWorkflowTask(signalCancel, pawl.Seq(9))
		return StepResult{Turn: agent.Turn{Session: "s", Number: 2, Prompt: 9}}, nil
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ends, "Finish h1 canceled canceled to 9")
}

// A prompt that was accepted after the cancel is not canceled.
func TestCancelSparesWhatCameLater(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.on[ends] = func(context.Context, StepRequest) (StepResult, error) {
		c.env.SignalWorkflowSkippingWorkflowTask(signalCancel, pawl.Seq(8))
		return StepResult{Turn: agent.Turn{Session: "s", Number: 2, Prompt: 9}}, nil
	}
	ok(t, c.run(job))
	c.check("Place", begins, thinks, answers, ends,
		"Think 1 h1 canceled to 8", "Think 2 h1 runs c canceled to 8", "Finish h1 end_turn canceled to 8")
}

// A prompt that is canceled before its turn begins gets a turn that ends at once, so that the log records it.
func TestCancelBeforeBegin(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(c *fakeWorkers){
		"with the start": func(c *fakeWorkers) {
			c.env.RegisterDelayedCallback(func() { c.env.SignalWorkflowSkippingWorkflowTask(signalCancel, pawl.Seq(2)) }, 0)
		},
		"while it is placed": func(c *fakeWorkers) {
			c.place = func(int, string) (Place, error) {
				c.env.SignalWorkflowSkippingWorkflowTask(signalCancel, pawl.Seq(2))
				return Place{Host: "h1", Dir: "/w", Epoch: 1}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFakeWorkers(t)
			cancel(c)
			ok(t, c.run(job))
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, line := range c.asked {
				if line == thinks || line == "Think 1 h1 canceled to 2" {
					t.Errorf("the model was asked for a turn that was canceled: %v", c.asked)
				}
			}
			if last := c.asked[len(c.asked)-1]; last != ended {
				t.Errorf("it ends with %q, want %q", last, ended)
			}
		})
	}
	t.Run("by an earlier workflow", func(t *testing.T) {
		c := newFakeWorkers(t)
		ok(t, c.run(Job{Session: "s", Canceled: 2}))
		c.check("Place", "Begin h1 canceled to 2 again", ended)
	})
}

// A cancel while no host is available ends the turn once a host is.
func TestCancelWhileNobodyIsThere(t *testing.T) {
	t.Parallel()
	c := newFakeWorkers(t)
	c.place = func(n int, _ string) (Place, error) {
		if n > 1 && n < 20 {
			return Place{}, encodeError(pawl.ErrUnavailable)
		}
		return Place{Host: "h1", Dir: "/w", Epoch: 1}, nil
	}
	c.on[thinks] = fails(notTaken)
	c.on["Think 1 h1 canceled to 2 again"] = fails(encodeError(&agent.Stop{Reason: pawl.ReasonCanceled}))
	c.env.RegisterDelayedCallback(func() { c.env.SignalWorkflow(signalCancel, pawl.Seq(2)) }, 20*time.Second)
	ok(t, c.run(job))
	if c.count("Think 1 h1 canceled to 2 again") != 1 || c.count(ended) != 1 {
		t.Errorf("asked: %v", c.asked)
	}
}
