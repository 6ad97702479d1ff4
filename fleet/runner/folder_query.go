package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
)

// folderQueryTime bounds a directory query, including its retries.
const folderQueryTime = 30 * time.Second

// FolderQuestion is a request about a workspace that is answered on its host, outside of a turn.
type FolderQuestion struct {
	Tenant pawl.Tenant     `json:"tenant,omitempty"`
	Dir    string          `json:"dir"`
	Name   string          `json:"name"` // of the query
	Ask    json.RawMessage `json:"ask,omitempty"`
	Place  Place           `json:"place,omitzero"`
}

// FolderQuery is the workflow of a FolderQuestion: it finds the host that holds the workspace and asks it.
func (f flows) FolderQuery(ctx workflow.Context, q FolderQuestion) (answer json.RawMessage, err error) {
	lost := ""
	for range 2 { // the second time on another host
		local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: f.place, RetryPolicy: once})
		if err := workflow.ExecuteLocalActivity(local, coordinator.PlaceFolder, q, lost).Get(ctx, &q.Place); err != nil {
			return nil, err
		}
		err = workflow.ExecuteActivity(f.executorContext(ctx, q.Place.Host, folderQueryTime), executor.Answer, q).Get(ctx, &answer)
		if err == nil || !untaken(err) {
			return answer, err
		}
		lost = q.Place.Host
	}
	return answer, err
}

// PlaceFolder finds a host for a directory.
func (b *Coordinator) PlaceFolder(ctx context.Context, q FolderQuestion, lost string) (Place, error) {
	return b.find(pawl.WithTenant(ctx, q.Tenant), q.Dir, lost)
}

// answerType carries an error's class and words.
const answerType = "Answer"

// Answer answers a question about a directory that is here.
func (h *Executor) Answer(ctx context.Context, q FolderQuestion) (json.RawMessage, error) {
	ctx, end := h.alive(pawl.WithTenant(ctx, q.Tenant))
	defer end()
	do := h.Errands[q.Name]
	if do == nil {
		return nil, refused(fmt.Errorf("this host knows no %q: is it of an older version?: %w", q.Name, pawl.ErrInvalid))
	}
	leave, err := h.Spaces.Enter(ctx, q.Place)
	if err != nil {
		if !final(sent(err)) && !errors.Is(err, pawl.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", err, pawl.ErrUnavailable) // it may be there later, or elsewhere
		}
		return nil, refused(err)
	}
	defer leave()
	answer, err := do(ctx, q.Dir, q.Ask)
	if err != nil {
		return nil, refused(err)
	}
	return answer, nil
}

func refused(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), answerType, nil, pawl.CodeOf(err))
}

// Ask asks something of a directory, wherever it is.
func (r *Runner) Ask(ctx context.Context, dir, name string, ask, answer any) error {
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	q := FolderQuestion{Tenant: pawl.TenantOf(ctx), Dir: dir, Name: name, Ask: text}
	run, err := r.Engine.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: "errand-" + ulid.Make().String(), TaskQueue: r.Engine.queue(), WorkflowExecutionTimeout: folderQueryTime, WorkflowTaskTimeout: timingFor(r.Engine.HostTimeout).decide,
	}, errandFlow, q)
	if err != nil {
		return fmt.Errorf("ask for %s: %w: %w", dir, err, pawl.ErrUnavailable)
	}
	var out json.RawMessage
	if err := run.Get(ctx, &out); err != nil {
		return asked(err)
	}
	return json.Unmarshal(out, answer)
}

// asked makes of an errand's error what was refused.
func asked(err error) error {
	var failed *temporal.ApplicationError
	if !errors.As(err, &failed) || failed.Type() != answerType {
		return fmt.Errorf("no host has answered: %w: %w", err, pawl.ErrUnavailable)
	}
	var code pawl.Code
	if err := failed.Details(&code); err != nil {
		return err
	}
	if class := pawl.ErrorOf(code); class != nil {
		return &refusal{failed.Message(), class}
	}
	return errors.New(failed.Message())
}

// refusal is an error of another process: its words, and its class.
type refusal struct {
	words string
	class error
}

func (r *refusal) Error() string { return r.words }
func (r *refusal) Unwrap() error { return r.class }
