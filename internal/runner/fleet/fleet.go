// Package fleet runs turns on Temporal. It is the proof that the loop needs no
// other code for it: the same agent.Run, inside a workflow, with every step an
// activity of the same agent.Stepper. What makes a fleet of it (placement on
// hosts, answers by signal, workers, the runner that starts workflows) comes
// in a later change.
//
// Only ids cross the border between the two; what they stand for is in the log.
// So a workflow's history stays small, whatever the model and the tools say.
package fleet

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// The bounds of a step. One that uses them up fails the workflow; the turn then
// stays open in the log, and the next workflow goes on with it.
const (
	briefTimeout    = 30 * time.Second // a step that only reads and writes the log, all attempts together
	generateTimeout = time.Hour        // one attempt at a reply
	executeTimeout  = 6 * time.Hour    // one attempt at the calls of a reply, which may wait for each other
	heartbeat       = 10 * time.Second // a worker that is silent for so long has died
	attempts        = 5
)

// stopType marks the application error that carries a pawl.Stop.
const stopType = "Stop"

// Turn is the workflow of a session, under the session's id: it works on one
// turn after the other until nothing waits. Canceling it cancels the open turn
// and what waits. It fails only by a fault of the machinery.
func Turn(ctx workflow.Context, id pawl.SessionID) error {
	kept, _ := workflow.NewDisconnectedContext(ctx) // that a turn was canceled must be written too
	for {
		var t pawl.Turn
		if err := brief(kept, &t, stepsOf.Begin, id); err != nil {
			return err
		}
		if t.Number == 0 {
			return nil
		}
		stop, err := pawl.StopOf(agent.Run(ctx, steps{}, t))
		if err != nil {
			return err
		}
		if err := brief(kept, nil, stepsOf.Finish, t, stop); err != nil {
			return err
		}
	}
}

// steps are the effects of a turn as a workflow has them.
type steps struct{}

var _ agent.Steps[workflow.Context] = steps{}

// stepsOf names the activities; the worker's own run.
var stepsOf *activities

func (steps) Prepare(ctx workflow.Context, t pawl.Turn) error {
	return brief(ctx, nil, stepsOf.Prepare, t)
}

func (steps) Generate(ctx workflow.Context, t pawl.Turn) (reply pawl.Reply, err error) {
	err = long(ctx, generateTimeout, &reply, stepsOf.Generate, t)
	return reply, err
}

func (steps) Authorize(ctx workflow.Context, t pawl.Turn, ids []pawl.CallID) (permitted []pawl.CallID, err error) {
	err = brief(ctx, &permitted, stepsOf.Authorize, t, ids)
	return permitted, err
}

func (steps) Execute(ctx workflow.Context, t pawl.Turn, ids []pawl.CallID) error {
	if len(ids) == 0 {
		return nil // all were refused: no reason to send for a host
	}
	return long(ctx, executeTimeout, nil, stepsOf.Execute, t, ids)
}

func (steps) Settle(ctx workflow.Context, t pawl.Turn) (again bool, err error) {
	err = brief(ctx, &again, stepsOf.Settle, t)
	return again, err
}

// brief takes a step that is over at once, as a local activity: it costs a
// tenth of a real one. A cancel does not break it off, so that it never goes on
// behind the workflow's back.
func brief(ctx workflow.Context, result, activity any, args ...any) error {
	if ctx.Err() != nil {
		return &pawl.Stop{Reason: pawl.ReasonCanceled}
	}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: briefTimeout,
		RetryPolicy:            retry(),
	})
	return returned(ctx, workflow.ExecuteLocalActivity(ctx, activity, args...).Get(ctx, result))
}

// long takes a step that may run for a while, on any worker. When canceled it
// is waited for: it has things to write before the turn ends.
func long(ctx workflow.Context, timeout time.Duration, result, activity any, args ...any) error {
	if ctx.Err() != nil {
		return &pawl.Stop{Reason: pawl.ReasonCanceled}
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: timeout,
		HeartbeatTimeout:    heartbeat,
		WaitForCancellation: true,
		RetryPolicy:         retry(),
	})
	return returned(ctx, workflow.ExecuteActivity(ctx, activity, args...).Get(ctx, result))
}

func retry() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: attempts}
}

// returned makes of an activity's error what the step returned; see sent.
func returned(ctx workflow.Context, err error) error {
	var failed *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && failed.Type() == stopType:
		var stop pawl.Stop
		if err := failed.Details(&stop); err != nil {
			return err
		}
		return &stop
	case temporal.IsCanceledError(err) && ctx.Err() != nil:
		return &pawl.Stop{Reason: pawl.ReasonCanceled}
	default:
		return err
	}
}
