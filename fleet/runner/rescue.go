package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflows "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// WaitForVersion waits until Temporal knows a worker of the version.
func WaitForVersion(ctx context.Context, engine Engine, version string) error {
	for {
		versions, err := Versions(ctx, engine)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(versions, func(v Version) bool { return v.ID == version }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fault.New(pawl.ErrNotFound, "no worker of version %s has started", version).Hint("Start one with `pawl-fleet worker --build-id %s`.", version)
		case <-time.After(minBackoff):
		}
	}
}

// StrandedVersions returns the versions that workflows may be pinned to and that no running coordinator has.
func StrandedVersions(ctx context.Context, engine Engine) ([]string, error) {
	versions, err := Versions(ctx, engine)
	if err != nil {
		return nil, err
	}
	coordinators, err := engine.describe(ctx, engine.queue(), enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, v := range versions {
		if !v.Current && !slices.Contains(coordinators.Versions, v.ID) {
			list = append(list, v.ID)
		}
	}
	return list, nil
}

// Rescue terminates the session workflows pinned to a version and starts new ones on the current version, which
// continue from the log. If Rescue fails in between, the session's turn is still open in the log and the Adopter
// resumes it.
func Rescue(ctx context.Context, engine Engine, version string) (rescued int, err error) {
	query := fmt.Sprintf("WorkflowType = 'Session' AND ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion = '%s:%s'", engine.deployment(), version)
	var next []byte
	for {
		page, err := engine.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: next})
		if err != nil {
			return rescued, fault.New(pawl.ErrUnavailable, "list the workflows of version %s: %w", version, err)
		}
		for _, w := range page.GetExecutions() {
			if err := engine.rescue(ctx, w); err != nil {
				return rescued, fmt.Errorf("replace workflow %s: %w", w.GetExecution().GetWorkflowId(), err)
			}
			rescued++
		}
		if next = page.GetNextPageToken(); len(next) == 0 {
			return rescued, nil
		}
	}
}

// rescue terminates a workflow and starts another. It passes on the cancels that the old one received, because the log
// does not contain them; they can be read safely only after the old one has ended.
func (e Engine) rescue(ctx context.Context, w *workflows.WorkflowExecutionInfo) error {
	id, run := w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId()
	err := e.TerminateWorkflow(ctx, id, run, "no worker has this version anymore: another workflow continues the session")
	var ended *serviceerror.NotFound
	if err != nil && !errors.As(err, &ended) { // it has ended in the meantime
		return err
	}
	job, err := e.jobFromHistory(ctx, id, run)
	if err != nil {
		return err
	}
	runner := &Runner{Engine: e}
	ctx = store.WithTenant(ctx, job.Tenant)
	if job.Canceled > 0 {
		return runner.Cancel(ctx, job.Session, job.Canceled)
	}
	return runner.Start(ctx, job.Session)
}

// jobFromHistory returns a workflow's job, with the cancels it received.
func (e Engine) jobFromHistory(ctx context.Context, id, run string) (job Job, err error) {
	history := e.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return job, err
		}
		if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
			if err := decode(began.GetInput(), &job); err != nil {
				return job, err
			}
		}
		if s := event.GetWorkflowExecutionSignaledEventAttributes(); s.GetSignalName() == signalCancel {
			var upTo pawl.Seq
			if err := decode(s.GetInput(), &upTo); err != nil {
				return job, err
			}
			job.Canceled = max(job.Canceled, upTo)
		}
	}
	if job.Session == "" {
		return job, errors.New("the history does not name a session")
	}
	return job, nil
}

func decode(p *common.Payloads, to any) error {
	return converter.GetDefaultDataConverter().FromPayloads(p, to)
}
