package runner

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/oklog/ulid/v2"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// folderQueryTime bounds a FolderQuery, including its retries.
const folderQueryTime = 30 * time.Second

// FolderQuestion is a request about a workspace that its host answers outside of a turn.
type FolderQuestion struct {
	Tenant store.Tenant    `json:"tenant,omitempty"`
	Dir    string          `json:"dir"`
	Name   string          `json:"name"` // selects the handler in Executor.FolderQueries
	Ask    json.RawMessage `json:"ask,omitempty"`
	Place  Place           `json:"place,omitzero"`
}

// FolderQuery is the workflow of a FolderQuestion: it finds the host that holds the workspace and runs the query there.
func (f flows) FolderQuery(ctx workflow.Context, q FolderQuestion) (answer json.RawMessage, err error) {
	lost := ""
	for range 2 { // the second attempt is on another host
		local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: f.place, RetryPolicy: once})
		if err := workflow.ExecuteLocalActivity(local, coordinator.PlaceFolder, q, lost).Get(ctx, &q.Place); err != nil {
			return nil, err
		}
		err = workflow.ExecuteActivity(f.executorContext(ctx, q.Place.Host, folderQueryTime), executor.Answer, q).Get(ctx, &answer)
		if err == nil || !notStarted(err) {
			return answer, err
		}
		lost = q.Place.Host
	}
	return answer, err
}

// PlaceFolder finds a host for a directory.
func (b *Coordinator) PlaceFolder(ctx context.Context, q FolderQuestion, lost string) (Place, error) {
	return b.find(store.WithTenant(ctx, q.Tenant), q.Dir, lost)
}

// answerType is the type of the application error that carries an error's code and message.
const answerType = "Answer"

// Answer runs a FolderQuery on this host.
func (h *Executor) Answer(ctx context.Context, q FolderQuestion) (json.RawMessage, error) {
	ctx, end := h.withHeartbeat(store.WithTenant(ctx, q.Tenant))
	defer end()
	do := h.FolderQueries[q.Name]
	if do == nil {
		return nil, encodeAnswerError(fault.New(pawl.ErrInvalid, "this host does not support the query %q: it may run an older version", q.Name))
	}
	leave, err := h.Workspaces.Enter(ctx, q.Place)
	if err != nil {
		if !final(encodeError(err)) && !errors.Is(err, pawl.ErrUnavailable) {
			err = fault.New(pawl.ErrUnavailable, "%w", err) // it may be available later, or on another host
		}
		return nil, encodeAnswerError(err)
	}
	defer leave()
	answer, err := do(ctx, q.Dir, q.Ask)
	if err != nil {
		return nil, encodeAnswerError(err)
	}
	return answer, nil
}

func encodeAnswerError(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), answerType, nil, pawl.CodeOf(err))
}

// QueryFolder runs the query called name on the host that holds dir, and decodes the result into answer.
func (r *Runner) QueryFolder(ctx context.Context, dir, name string, ask, answer any) error {
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	q := FolderQuestion{Tenant: store.TenantOf(ctx), Dir: dir, Name: name, Ask: text}
	run, err := r.Engine.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: "folder-query-" + ulid.Make().String(), TaskQueue: r.Engine.queue(), WorkflowExecutionTimeout: folderQueryTime, WorkflowTaskTimeout: timingFor(r.Engine.HostTimeout).decide,
	}, folderQueryFlow, q)
	if err != nil {
		return fault.New(pawl.ErrUnavailable, "query the host of %s: %w", dir, err)
	}
	var out json.RawMessage
	if err := run.Get(ctx, &out); err != nil {
		return decodeAnswerError(err)
	}
	return json.Unmarshal(out, answer)
}

// decodeAnswerError restores an error encoded by encodeAnswerError. Any other error means that no host has answered.
func decodeAnswerError(err error) error {
	var failed *temporal.ApplicationError
	if !errors.As(err, &failed) || failed.Type() != answerType {
		return fault.New(pawl.ErrUnavailable, "no host has answered: %w", err)
	}
	var code pawl.Code
	if err := failed.Details(&code); err != nil {
		return err
	}
	if class := code.Err(); class != nil {
		return &remoteError{failed.Message(), class}
	}
	return errors.New(failed.Message())
}

// remoteError is an error of another process: its message and its class (one of pawl's sentinel errors).
type remoteError struct {
	words string
	class error
}

func (r *remoteError) Error() string { return r.words }
func (r *remoteError) Unwrap() error { return r.class }
