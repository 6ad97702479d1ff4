package runner

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"
)

// A shutdown or timeout by Temporal must not look like a person's cancel to a step: the turn must stay open. A
// person's cancel comes through Interrupt.
func TestHeartbeatCause(t *testing.T) {
	t.Parallel()
	shutdown := errors.New("the worker shuts down")
	for name, test := range map[string]struct{ cause, want error }{
		"by the engine":   {temporal.NewCanceledError(), errRevoked},
		"with the worker": {context.Canceled, errRevoked},
		"taken away":      {shutdown, shutdown},
		"too long":        {context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			engine, cancel := context.WithCancelCause(t.Context())
			step, end := (&Executor{Workspaces: &Workspaces{}}).withHeartbeat(engine)
			defer end()
			cancel(test.cause)
			<-step.Done()
			if got := context.Cause(step); !errors.Is(got, test.want) || errors.Is(got, context.Canceled) {
				t.Errorf("cause %v, want %v", got, test.want)
			}
		})
	}
}

func TestHeartbeatEnds(t *testing.T) {
	t.Parallel()
	step, end := (&Executor{Workspaces: &Workspaces{}}).withHeartbeat(t.Context())
	if step.Err() != nil {
		t.Fatal(step.Err())
	}
	end() // returns only when nothing is left running
	if !errors.Is(step.Err(), context.Canceled) {
		t.Error("the step's context outlives the step")
	}
}
