package fleet

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// Stepper is what the activities are made of: an *agent.Stepper.
type Stepper interface {
	agent.Steps[context.Context]
	Begin(ctx context.Context, id pawl.SessionID) (t pawl.Turn, ok bool, err error)
	Finish(ctx context.Context, t pawl.Turn, stop pawl.Stop) error
	Forget(id pawl.SessionID)
}

var _ Stepper = (*agent.Stepper)(nil)

// Registry is a worker, or a test's environment.
type Registry interface {
	RegisterWorkflow(w any)
	RegisterActivity(a any)
}

// Register makes the registry able to run turns.
func Register(r Registry, s Stepper) {
	r.RegisterWorkflow(Turn)
	r.RegisterActivity(&activities{s})
}

// activities are the stepper's steps at the border to the engine.
type activities struct{ stepper Stepper }

// Begin returns the turn to work on, the zero Turn if there is none. Another
// workflow may have left a step at work here, so it reads the log anew.
func (a *activities) Begin(ctx context.Context, id pawl.SessionID) (pawl.Turn, error) {
	a.stepper.Forget(id)
	t, _, err := a.stepper.Begin(ctx, id)
	return t, sent(err)
}

func (a *activities) Prepare(ctx context.Context, t pawl.Turn) error {
	a.enter(ctx, t)
	return sent(a.stepper.Prepare(ctx, t))
}

func (a *activities) Generate(ctx context.Context, t pawl.Turn) (pawl.Reply, error) {
	a.enter(ctx, t)
	ctx, end := alive(ctx)
	defer end()
	reply, err := a.stepper.Generate(ctx, t)
	return reply, sent(err)
}

func (a *activities) Authorize(ctx context.Context, t pawl.Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	a.enter(ctx, t)
	permitted, err := a.stepper.Authorize(ctx, t, ids)
	return permitted, sent(err)
}

func (a *activities) Execute(ctx context.Context, t pawl.Turn, ids []pawl.CallID) error {
	a.enter(ctx, t)
	ctx, end := alive(ctx)
	defer end()
	return sent(a.stepper.Execute(ctx, t, ids))
}

func (a *activities) Settle(ctx context.Context, t pawl.Turn) (bool, error) {
	a.enter(ctx, t)
	again, err := a.stepper.Settle(ctx, t)
	return again, sent(err)
}

func (a *activities) Finish(ctx context.Context, t pawl.Turn, stop pawl.Stop) error {
	a.enter(ctx, t)
	defer a.stepper.Forget(t.Session)
	return sent(a.stepper.Finish(ctx, t, stop))
}

// enter makes every attempt but the first read the log for itself. The one
// before may still be at work in this process: if both shared what they know of
// the log, neither would find the other's appends in its way.
func (a *activities) enter(ctx context.Context, t pawl.Turn) {
	if activity.GetInfo(ctx).Attempt > 1 {
		a.stepper.Forget(t.Session)
	}
}

// alive tells the engine that the step is at work, and the step what the engine
// wants. Only a cancel that was asked for is one; if the engine or the worker
// goes down, or the attempt took too long, the work is taken away and the turn
// stays open. Call end when the step is over.
func alive(ctx context.Context) (step context.Context, end func()) {
	step, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(heartbeat / 5)
		defer tick.Stop()
		for {
			select {
			case <-step.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				cause := context.Cause(ctx)
				if temporal.IsCanceledError(cause) {
					cause = context.Canceled
				}
				cancel(cause)
				return
			}
		}
	}()
	return step, func() { cancel(nil); <-ended }
}

// sent makes of a step's error what crosses the border: a Stop is final, all
// else is worth another attempt.
func sent(err error) error {
	var stop *pawl.Stop
	if errors.As(err, &stop) {
		return temporal.NewNonRetryableApplicationError(stop.Error(), stopType, nil, stop)
	}
	return err
}
