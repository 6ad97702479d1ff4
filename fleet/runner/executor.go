package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/store"
)

// Stepper does the work of the activities. *agent.Stepper implements it.
type Stepper interface {
	agent.Steps[context.Context]
	Begin(ctx context.Context, id pawl.SessionID) (t agent.Turn, ok bool, err error)
	StepsTaken(ctx context.Context, t agent.Turn) (int, error)
	Finish(ctx context.Context, t agent.Turn, stop agent.Stop) error
	Interrupt(id pawl.SessionID, upTo pawl.Seq)
	Forget(id pawl.SessionID)
}

var _ Stepper = (*agent.Stepper)(nil)

// Executor implements the Temporal activities that run on the host holding the workspace.
type Executor struct {
	Stepper    Stepper
	Leases     store.Leases
	Workspaces *Workspaces
	Summarizer *agent.Summarizer // writes titles and summaries; nil disables them

	// Ended, if not nil, is called after a turn of a session has ended, to wake whoever waits for it.
	Ended func(ctx context.Context, id pawl.SessionID)

	// FolderQueries holds the handlers of FolderQuery workflows (Runner.QueryFolder), by name.
	FolderQueries map[string]func(ctx context.Context, dir string, ask []byte) ([]byte, error)

	// Notify, if not nil, tells the clients watching a session why it is not making progress.
	Notify func(id pawl.SessionID, text string)

	// Observe, if not nil, is called after each step with its kind, its result (see resultOf) and its duration.
	Observe func(kind, result string, d time.Duration)

	mu       sync.Mutex
	running  map[pawl.SessionID]map[*step]bool // more than one if an earlier attempt timed out but is still running
	canceled map[pawl.SessionID]pawl.Seq
}

// step is a running activity.
type step struct {
	prompt pawl.Seq
	cancel context.CancelFunc
}

// Begin returns the turn to work on, or the zero Turn if nothing is left.
func (h *Executor) Begin(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "begin", t, func(ctx context.Context) (StepResult, error) { return h.beginNext(ctx, t) })
}

// The fleet as a whole owns the lease of a session: Temporal makes sure that a single host works on it, and the lease
// keeps other runners away for leaseTime after the last turn began.
const (
	owner     store.Owner = "fleet"
	leaseTime             = time.Hour
)

// beginNext begins the next turn of the session. Without one it releases the lease and drops what is cached for
// the session.
func (h *Executor) beginNext(ctx context.Context, t StepRequest) (StepResult, error) {
	if _, err := h.Leases.Acquire(ctx, t.Session, owner, leaseTime, ""); err != nil {
		return StepResult{}, err
	}
	h.Stepper.Interrupt(t.Session, t.Canceled)
	turn, ok, err := h.Stepper.Begin(ctx, t.Session)
	if err != nil {
		return StepResult{}, err
	}
	var large *agent.Stop
	if err := h.Workspaces.Save(ctx, t.Place.Dir); err != nil && !errors.As(err, &large) { // the call that made the workspace too large has already failed with this error
		return StepResult{}, err
	}
	if !ok {
		h.forget(t.Session)
		return StepResult{}, h.Leases.Release(ctx, t.Session, owner)
	}
	if h.Summarizer != nil {
		h.Summarizer.Title(ctx, t.Session)
	}
	taken, err := h.Stepper.StepsTaken(ctx, turn)
	return StepResult{Turn: turn, Taken: taken}, err
}

func (h *Executor) forget(id pawl.SessionID) {
	h.Stepper.Forget(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.canceled, id)
}

// Think executes the calls of the previous reply (StepRequest.Calls), then makes one model request. If the new reply
// has no calls it also settles the turn, which saves a round trip.
func (h *Executor) Think(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "think", t, func(ctx context.Context) (out StepResult, err error) {
		if err := h.act(ctx, before(t.Turn), t.Calls); err != nil {
			return out, err
		}
		if err := h.Stepper.Prepare(ctx, t.Turn); err != nil {
			return out, err
		}
		if out.Reply, err = h.Stepper.Generate(ctx, t.Turn); err != nil {
			return out, err
		}
		if len(out.Reply.Calls) == 0 && out.Reply.Finish != pawl.FinishToolUse {
			out.Settled = true
			out.Again, err = h.Stepper.Settle(ctx, t.Turn)
		}
		return out, err
	})
}

// Act authorizes and executes the calls of the last reply, when no further reply follows.
func (h *Executor) Act(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "act", t, func(ctx context.Context) (StepResult, error) {
		return StepResult{}, h.act(ctx, t.Turn, t.Calls)
	})
}

// before returns the turn at its previous step.
func before(t agent.Turn) agent.Turn {
	t.Step--
	return t
}

func (h *Executor) act(ctx context.Context, t agent.Turn, calls []pawl.CallID) error {
	if len(calls) == 0 {
		return nil
	}
	permitted, err := h.Stepper.Authorize(ctx, t, calls)
	if err != nil {
		return err
	}
	return h.Stepper.Execute(ctx, t, permitted)
}

// Settle decides whether a turn continues whose last reply had calls.
func (h *Executor) Settle(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "settle", t, func(ctx context.Context) (out StepResult, err error) {
		out.Again, err = h.Stepper.Settle(ctx, t.Turn)
		return out, err
	})
}

// Finish records the end of a turn and returns the next one.
func (h *Executor) Finish(ctx context.Context, t StepRequest) (StepResult, error) {
	end := t
	end.Turn = agent.Turn{} // without a turn the step cannot be canceled: the end of a canceled turn is recorded too
	return h.runStep(ctx, "finish", end, func(ctx context.Context) (StepResult, error) {
		if err := h.Stepper.Finish(ctx, t.Turn, *t.Stop); err != nil {
			return StepResult{}, err
		}
		if h.Ended != nil {
			h.Ended(ctx, t.Session)
		}
		if h.Summarizer != nil {
			h.Summarizer.Summarize(ctx, t.Turn)
		}
		return h.beginNext(ctx, t)
	})
}

// Interrupt cancels the running steps of turns that were canceled.
func (h *Executor) Interrupt(_ context.Context, t StepRequest) (StepResult, error) {
	h.Stepper.Interrupt(t.Session, t.Canceled)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.canceled == nil {
		h.canceled = map[pawl.SessionID]pawl.Seq{}
	}
	h.canceled[t.Session] = max(h.canceled[t.Session], t.Canceled)
	for s := range h.running[t.Session] {
		if s.prompt != 0 && s.prompt <= t.Canceled {
			s.cancel()
		}
	}
	return StepResult{}, nil
}

// runStep runs one activity, reports it to Observe and encodes its error.
func (h *Executor) runStep(ctx context.Context, kind string, t StepRequest, do func(context.Context) (StepResult, error)) (StepResult, error) {
	began := time.Now()
	out, err := h.runOnHost(ctx, t, do)
	if h.Observe != nil {
		h.Observe(kind, resultOf(out, err), time.Since(began))
	}
	return out, encodeError(err)
}

// runOnHost runs a step in its workspace. A repeated attempt drops the cached log first: the earlier attempt may still
// be running in this process, and with a shared cache neither would get the conflict error that the other's appends
// must cause.
func (h *Executor) runOnHost(ctx context.Context, t StepRequest, do func(context.Context) (StepResult, error)) (StepResult, error) {
	ctx, end := h.withHeartbeat(store.WithTenant(ctx, t.Tenant))
	defer end()
	if t.Again {
		h.Stepper.Forget(t.Session)
	}
	leave, err := h.Workspaces.Enter(ctx, t.Place)
	if err != nil {
		h.notifyFailure(t.Session, err)
		return StepResult{}, err
	}
	defer leave()
	step, over := h.cancelable(ctx, t)
	defer over()
	out, err := do(step)
	var suspended *agent.Suspended
	var stop *agent.Stop
	switch {
	case errors.As(err, &suspended):
		out, err = StepResult{Waits: true, Until: suspended.Until}, nil
	case err != nil && step.Err() != nil && ctx.Err() == nil && !errors.As(err, &stop):
		err = &agent.Stop{Reason: pawl.ReasonCanceled}
	}
	out.Leave = h.Workspaces.Draining()
	return out, err
}

// notifyFailure tells clients why there is no workspace to work in, unless another host may have it.
func (h *Executor) notifyFailure(id pawl.SessionID, err error) {
	switch {
	case h.Notify == nil, errors.Is(err, errMoved), errors.Is(err, errFull):
	case final(encodeError(err)):
		h.Notify(id, err.Error())
	default:
		h.Notify(id, err.Error()+" (retrying)")
	}
}

// cancelable returns a context that Interrupt can cancel, or has canceled already.
func (h *Executor) cancelable(ctx context.Context, t StepRequest) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &step{t.Turn.Prompt, cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running == nil {
		h.running = map[pawl.SessionID]map[*step]bool{}
	}
	if h.running[t.Session] == nil {
		h.running[t.Session] = map[*step]bool{}
	}
	h.running[t.Session][s] = true
	if s.prompt != 0 && s.prompt <= max(t.Canceled, h.canceled[t.Session]) {
		cancel()
	}
	return ctx, func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(h.running[t.Session], s); len(h.running[t.Session]) == 0 {
			delete(h.running, t.Session)
		}
	}
}

// withHeartbeat sends heartbeats to Temporal until end is called. If Temporal or the worker shuts down, or the attempt
// timed out, it cancels the step with errRevoked and the turn stays open.
func (h *Executor) withHeartbeat(ctx context.Context) (step context.Context, end func()) {
	step, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(timingFor(h.Workspaces.HostTimeout).heartbeat / 4)
		defer tick.Stop()
		for {
			select {
			case <-step.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				cancel(revokedCause(context.Cause(ctx)))
				return
			}
		}
	}()
	return step, func() { cancel(nil); <-ended }
}

// errRevoked is the cause when Temporal ends a step. It is not context.Canceled, which stands for a cancel by a person.
var errRevoked = errors.New("the engine has canceled the step")

func revokedCause(cause error) error {
	if cause == nil || errors.Is(cause, context.Canceled) || temporal.IsCanceledError(cause) {
		return errRevoked
	}
	return cause
}
