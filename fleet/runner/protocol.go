// Package runner runs sessions on many hosts with Temporal. agent.Run decides inside a workflow, as it does locally;
// its steps are activities that call agent.Stepper on the host that holds the session's workspace.
//
// Workflows and activities exchange only ids; the data is in the session's log. So a workflow's history stays small,
// and a lost workflow can be replaced by a new one that continues from the log.
//
// A workflow stays on the version it started with (worker versioning), so a new version may decide differently. Within
// one version, replaying a history must lead to the same decisions. TestReplay checks this against recorded histories.
// If it fails after a change that was not meant to change the workflows, the change is wrong. Otherwise record the
// histories again and promote the result as a new version:
//
//	go test -tags fleet -run TestRecord ./fleet/runner -update
package runner

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/store"
)

// The task queues. Workflows run on any coordinator; steps run on the host that has the workspace.
const (
	CoordinatorQueue = "coordinator"
	executorPrefix   = "executor-"
)

// ExecutorQueue returns the task queue of a host.
func ExecutorQueue(host string) string { return executorPrefix + host }

// The signals of a session's workflow.
const (
	signalWake   = "wake"   // the log has new events
	signalCancel = "cancel" // carries a Seq: prompts up to it are canceled
)

// Job identifies the session that a workflow runs.
type Job struct {
	Session  pawl.SessionID `json:"session"`
	Tenant   store.Tenant   `json:"tenant,omitempty"`
	Canceled pawl.Seq       `json:"canceled,omitempty"` // prompts up to this one are canceled
}

// Place is the location of a workspace.
type Place struct {
	Host  string `json:"host"`
	Dir   string `json:"dir"`
	Epoch int64  `json:"epoch"`
}

// StepRequest is the request for a step.
type StepRequest struct {
	Job
	Place Place         `json:"place"`
	Turn  agent.Turn    `json:"turn,omitzero"`
	Calls []pawl.CallID `json:"calls,omitempty"`
	Stop  *agent.Stop   `json:"stop,omitempty"`
	Again bool          `json:"again,omitempty"` // a repeated attempt: the outcome of the previous one is unknown
}

// StepResult is the result of a step.
type StepResult struct {
	Turn    agent.Turn  `json:"turn,omitzero"` // the next one; the zero Turn if nothing is left to do
	Taken   int         `json:"taken,omitempty"`
	Reply   agent.Reply `json:"reply,omitzero"`
	Settled bool        `json:"settled,omitempty"` // the step has settled the turn too, and Again is the result
	Again   bool        `json:"again,omitempty"`
	Waits   bool        `json:"waits,omitempty"` // the step waits for a person, at most until Until if that is set
	Until   time.Time   `json:"until,omitzero"`
	Leave   bool        `json:"leave,omitempty"` // the host wants to give up the workspace
}

// The types of application errors that workflows distinguish.
const (
	stopType  = "Stop"  // carries an agent.Stop
	finalType = "Final" // a retry would fail too
)

// encodeError encodes the error of a step for the workflow. A Stop ends the turn, ErrNotFound and ErrInvalid are final,
// and other errors are retried.
func encodeError(err error) error {
	var stop *agent.Stop
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stop):
		return temporal.NewNonRetryableApplicationError(stop.Error(), stopType, nil, *stop)
	case errors.Is(err, pawl.ErrNotFound), errors.Is(err, pawl.ErrInvalid):
		return temporal.NewNonRetryableApplicationError(err.Error(), finalType, nil)
	default:
		return temporal.NewApplicationError(err.Error(), "Fault")
	}
}

// decodeError returns the Stop that encodeError has encoded, and other errors unchanged.
func decodeError(err error) error {
	var failed *temporal.ApplicationError
	if errors.As(err, &failed) && failed.Type() == stopType {
		var stop agent.Stop
		if err := failed.Details(&stop); err != nil {
			return err
		}
		return &stop
	}
	return err
}

// final reports whether a retry would fail too.
func final(err error) bool {
	var stop *agent.Stop
	var failed *temporal.ApplicationError
	return errors.As(err, &stop) || temporal.IsCanceledError(err) || errors.As(err, &failed) && failed.Type() == finalType
}

// notStarted reports whether no worker has started the step, which means that its host is lost.
func notStarted(err error) bool {
	var late *temporal.TimeoutError
	return errors.As(err, &late) && late.TimeoutType() == scheduleToStart
}

// heartbeatLost reports whether a step that was started has missed its heartbeats. Its host may still count as live,
// and the next step there would have to wait.
func heartbeatLost(err error) bool {
	var late *temporal.TimeoutError
	return errors.As(err, &late) && late.TimeoutType() == heartbeatMissed
}
