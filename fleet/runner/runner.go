package runner

import (
	"context"
	"errors"
	"fmt"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Runner starts and signals the workflows of sessions. It does no work itself.
type Runner struct{ Engine Engine }

// Start makes sure that the session has a running workflow, and tells it to read the log.
func (r *Runner) Start(ctx context.Context, id pawl.SessionID) error {
	return r.signal(ctx, id, signalWake, nil)
}

// Wake is Start.
func (r *Runner) Wake(ctx context.Context, id pawl.SessionID) error { return r.Start(ctx, id) }

// Answered tells the workflow that an answer to a permission prompt is in the log. The signal survives an outage of all
// workers.
func (r *Runner) Answered(ctx context.Context, id pawl.SessionID) error { return r.Start(ctx, id) }

// Cancel ends the open turn and all prompts up to the given Seq.
func (r *Runner) Cancel(ctx context.Context, id pawl.SessionID, upTo pawl.Seq) error {
	return r.signal(ctx, id, signalCancel, upTo)
}

// signal signals a session's workflow, and starts it if needed.
func (r *Runner) signal(ctx context.Context, id pawl.SessionID, name string, value any) error {
	job := Job{Session: id, Tenant: store.TenantOf(ctx)}
	_, err := r.Engine.SignalWithStartWorkflow(ctx, r.Engine.workflow(id), name, value, client.StartWorkflowOptions{
		ID: r.Engine.workflow(id), TaskQueue: r.Engine.queue(), WorkflowTaskTimeout: timingFor(r.Engine.HostTimeout).decide,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, sessionFlow, job)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("notify the fleet of session %s: %w", id, err)
	var unavailable *serviceerror.Unavailable
	if errors.As(err, &unavailable) || ctx.Err() == nil {
		err = fault.New(pawl.ErrUnavailable, "%w", err)
	}
	return err
}

// Ended wakes the parent of a session, which may wait for it. A parent without a workflow waits for nothing.
func (r *Runner) Ended(ctx context.Context, store store.Store, id pawl.SessionID) error {
	row, err := store.Session(ctx, id)
	if err != nil || row.Parent == "" {
		return err
	}
	err = r.Engine.SignalWorkflow(ctx, r.Engine.workflow(row.Parent), "", signalWake, nil)
	var none *serviceerror.NotFound
	if err != nil && !errors.As(err, &none) {
		return fault.New(pawl.ErrUnavailable, "notify session %s that %s has ended: %w", row.Parent, id, err)
	}
	return nil
}

// HasWorkflow reports whether the session has a running workflow.
func (r *Runner) HasWorkflow(ctx context.Context, id pawl.SessionID) (bool, error) {
	d, err := r.Engine.DescribeWorkflowExecution(ctx, r.Engine.workflow(id), "")
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return false, nil
	}
	if err != nil {
		return false, fault.New(pawl.ErrUnavailable, "query the workflow of session %s: %w", id, err)
	}
	return d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}
