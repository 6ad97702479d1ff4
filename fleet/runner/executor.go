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
)

// Stepper is what the trips are made of: an *agent.Stepper.
type Stepper interface {
	agent.Steps[context.Context]
	Begin(ctx context.Context, id pawl.SessionID) (t pawl.Turn, ok bool, err error)
	Taken(ctx context.Context, t pawl.Turn) (int, error)
	Finish(ctx context.Context, t pawl.Turn, stop pawl.Stop) error
	Interrupt(id pawl.SessionID, upTo pawl.Seq)
	Forget(id pawl.SessionID)
}

var _ Stepper = (*agent.Stepper)(nil)

// Executor are a host's part of the work: its activities.
type Executor struct {
	Stepper Stepper
	Leases  pawl.Leases
	Spaces  *Workspaces
	Asides  *agent.Summarizer // writes titles and summaries; nil means nobody does

	// Ended is told of a session whose turn has ended, so that who waits for it need not
	// wait longer; nil means nobody.
	Ended func(ctx context.Context, id pawl.SessionID)

	// Errands are what can be asked of a directory beside the work, by name.
	Errands map[string]func(ctx context.Context, dir string, ask []byte) ([]byte, error)

	// Tell tells those who watch a session why it does not go on; nil tells nobody.
	Tell func(id pawl.SessionID, text string)

	// Observe is told of each trip: what it was, what came of it (see resultOf) and how
	// long it took; nil means nobody is.
	Observe func(kind, result string, d time.Duration)

	mu       sync.Mutex
	at       map[pawl.SessionID]map[*step]bool // more than one if an attempt was given up and is still at work
	canceled map[pawl.SessionID]pawl.Seq
}

// step is one that is under way.
type step struct {
	prompt pawl.Seq
	cancel context.CancelFunc
}

// Begin returns the turn to work on, the zero Turn if there is none.
func (h *Executor) Begin(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "begin", t, func(ctx context.Context) (StepResult, error) { return h.next(ctx, t) })
}

// The fleet as a whole holds the lease of a session: the engine sees to it that one
// host works on it, and all others keep off, for a while after the last turn began.
const (
	owner     pawl.Owner = "fleet"
	leaseTime            = time.Hour
)

// next begins what comes next in the session. Nobody else works on it: what is
// remembered of a session that has nothing left to do is forgotten.
func (h *Executor) next(ctx context.Context, t StepRequest) (StepResult, error) {
	if _, err := h.Leases.Acquire(ctx, t.Session, owner, leaseTime, ""); err != nil {
		return StepResult{}, err
	}
	h.Stepper.Interrupt(t.Session, t.Canceled)
	turn, ok, err := h.Stepper.Begin(ctx, t.Session)
	if err != nil {
		return StepResult{}, err
	}
	var large *pawl.Stop
	if err := h.Spaces.Save(ctx, t.Place.Dir); err != nil && !errors.As(err, &large) { // the call that made it too large was told
		return StepResult{}, err
	}
	if !ok {
		h.forget(t.Session)
		return StepResult{}, h.Leases.Release(ctx, t.Session, owner)
	}
	if h.Asides != nil {
		h.Asides.Title(ctx, t.Session)
	}
	taken, err := h.Stepper.Taken(ctx, turn)
	return StepResult{Turn: turn, Taken: taken}, err
}

func (h *Executor) forget(id pawl.SessionID) {
	h.Stepper.Forget(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.canceled, id)
}

// Think makes one model call, with what comes before it: the calls of the last reply.
// If the new one has none it is asked at once whether the turn goes on.
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

// Act runs those of a reply's calls that may run, if no other reply is asked for.
func (h *Executor) Act(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "act", t, func(ctx context.Context) (StepResult, error) {
		return StepResult{}, h.act(ctx, t.Turn, t.Calls)
	})
}

// before is the turn at its last step.
func before(t pawl.Turn) pawl.Turn {
	t.Step--
	return t
}

func (h *Executor) act(ctx context.Context, t pawl.Turn, calls []pawl.CallID) error {
	if len(calls) == 0 {
		return nil
	}
	permitted, err := h.Stepper.Authorize(ctx, t, calls)
	if err != nil {
		return err
	}
	return h.Stepper.Execute(ctx, t, permitted)
}

// Settle is asked whether a turn goes on whose last reply had calls.
func (h *Executor) Settle(ctx context.Context, t StepRequest) (StepResult, error) {
	return h.runStep(ctx, "settle", t, func(ctx context.Context) (out StepResult, err error) {
		out.Again, err = h.Stepper.Settle(ctx, t.Turn)
		return out, err
	})
}

// Finish writes a turn's end and returns the next one.
func (h *Executor) Finish(ctx context.Context, t StepRequest) (StepResult, error) {
	end := t
	end.Turn = pawl.Turn{} // its end is written though it was canceled
	return h.runStep(ctx, "finish", end, func(ctx context.Context) (StepResult, error) {
		if err := h.Stepper.Finish(ctx, t.Turn, *t.Stop); err != nil {
			return StepResult{}, err
		}
		if h.Ended != nil {
			h.Ended(ctx, t.Session)
		}
		if h.Asides != nil {
			h.Asides.Summarize(ctx, t.Turn)
		}
		return h.next(ctx, t)
	})
}

// Interrupt ends the step that is under way, if it is of a turn that was canceled.
func (h *Executor) Interrupt(_ context.Context, t StepRequest) (StepResult, error) {
	h.Stepper.Interrupt(t.Session, t.Canceled)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.canceled == nil {
		h.canceled = map[pawl.SessionID]pawl.Seq{}
	}
	h.canceled[t.Session] = max(h.canceled[t.Session], t.Canceled)
	for s := range h.at[t.Session] {
		if s.prompt != 0 && s.prompt <= t.Canceled {
			s.cancel()
		}
	}
	return StepResult{}, nil
}

// runStep makes a trip, and tells how it went.
func (h *Executor) runStep(ctx context.Context, kind string, t StepRequest, do func(context.Context) (StepResult, error)) (StepResult, error) {
	began := time.Now()
	out, err := h.runOnHost(ctx, t, do)
	if h.Observe != nil {
		h.Observe(kind, resultOf(out, err), time.Since(began))
	}
	return out, sent(err)
}

// visit does a trip's work in its directory. An attempt that comes after another reads
// the log for itself: that one may still be at work in this process, and if both
// shared what they know of the log neither would find the other's appends in its way.
func (h *Executor) runOnHost(ctx context.Context, t StepRequest, do func(context.Context) (StepResult, error)) (StepResult, error) {
	ctx, end := h.alive(pawl.WithTenant(ctx, t.Tenant))
	defer end()
	if t.Again {
		h.Stepper.Forget(t.Session)
	}
	leave, err := h.Spaces.Enter(ctx, t.Place)
	if err != nil {
		h.excuse(t.Session, err)
		return StepResult{}, err
	}
	defer leave()
	step, over := h.cancelable(ctx, t)
	defer over()
	out, err := do(step)
	var parked *agent.Parked
	var stop *pawl.Stop
	switch {
	case errors.As(err, &parked):
		out, err = StepResult{Waits: true, Until: parked.Until}, nil
	case err != nil && step.Err() != nil && ctx.Err() == nil && !errors.As(err, &stop):
		err = &pawl.Stop{Reason: pawl.ReasonCanceled}
	}
	out.Leave = h.Spaces.Leaving()
	return out, err
}

// excuse tells why there is no directory to work in, unless another host may have it.
func (h *Executor) excuse(id pawl.SessionID, err error) {
	switch {
	case h.Tell == nil, errors.Is(err, errMoved), errors.Is(err, errFull):
	case final(sent(err)):
		h.Tell(id, err.Error())
	default:
		h.Tell(id, err.Error()+" (it is tried again)")
	}
}

// cancelable returns the context of a step that Interrupt can end, or has ended
// already.
func (h *Executor) cancelable(ctx context.Context, t StepRequest) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &step{t.Turn.Prompt, cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = map[pawl.SessionID]map[*step]bool{}
	}
	if h.at[t.Session] == nil {
		h.at[t.Session] = map[*step]bool{}
	}
	h.at[t.Session][s] = true
	if s.prompt != 0 && s.prompt <= max(t.Canceled, h.canceled[t.Session]) {
		cancel()
	}
	return ctx, func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(h.at[t.Session], s); len(h.at[t.Session]) == 0 {
			delete(h.at, t.Session)
		}
	}
}

// alive tells the engine that the step is at work. If the engine or the worker goes
// down, or the attempt took too long, the work is taken away and the turn stays
// open. Call end when the step is over.
func (h *Executor) alive(ctx context.Context) (step context.Context, end func()) {
	step, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(timingFor(h.Spaces.HostTimeout).heartbeat / 4)
		defer tick.Stop()
		for {
			select {
			case <-step.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				cancel(takenBy(context.Cause(ctx)))
				return
			}
		}
	}()
	return step, func() { cancel(nil); <-ended }
}

// errTaken: the engine has taken the step away. It must not look like a cancel: a
// cancel is asked for by a person.
var errTaken = errors.New("the engine has taken the step away")

func takenBy(cause error) error {
	if cause == nil || errors.Is(cause, context.Canceled) || temporal.IsCanceledError(cause) {
		return errTaken
	}
	return cause
}
