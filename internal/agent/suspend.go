package agent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
)

// Suspended is the error of a step that would have to wait; see Config.Suspend. The step
// is to be run again when the ask is answered, or at Until.
type Suspended struct {
	Ask   pawl.Seq  // 0 if the step waits for other sessions
	Until time.Time // zero means no limit
}

func (p *Suspended) Error() string {
	if p.Ask == 0 {
		return "waiting for other sessions"
	}
	return fmt.Sprintf("waiting for the answer to %d", p.Ask)
}

// The bounds of a step that waits for other sessions.
const (
	defaultSuspendAfter = 2 * time.Minute // then it is suspended
	maxSuspended        = 2 * time.Minute // then it runs again
)

func (s *Stepper) suspendAfter() time.Duration { return cmp.Or(s.SuspendAfter, defaultSuspendAfter) }

// suspended returns the error of a step that waits for other sessions, for at most this
// long.
func (s *Stepper) suspended(most time.Duration) *Suspended {
	return &Suspended{Until: s.Clock().Add(min(most, maxSuspended))}
}

// canSuspend reports whether the step that asks can be run again later. A started call
// that may have had effects cannot, and waits for its answer.
func (h toolSession) canSuspend(call pawl.CallID) bool {
	if !h.s.Suspend {
		return false
	}
	if call == "" {
		return true
	}
	started := h.call(call).Started
	return started == nil || started.ReadOnly
}

// suspend returns the answer to an ask, or a *Suspended error if it is open. The
// timeout of the ask counts from when it was put: a fleet can take the answer at any time.
func (h toolSession) suspend(ctx context.Context, ask *pawl.OpenAsk) (pawl.Answer, error) {
	h.j.mu.Lock()
	_, err := h.j.catchUp(ctx)
	answer := ask.Answer
	h.j.mu.Unlock()
	switch {
	case err != nil:
		return pawl.Answer{}, err
	case answer != nil:
		return *answer, nil
	}
	suspended := &Suspended{Ask: ask.Seq}
	if d := ask.Asked.Timeout; d > 0 {
		suspended.Until = ask.At.Add(d)
		if !h.s.Clock().Before(suspended.Until) {
			return h.answer(ctx, ask, pawl.OutcomeTimeout)
		}
	}
	return pawl.Answer{}, suspended
}

// presenceEvery is how often an open ask looks whether somebody could answer it.
const presenceEvery = 500 * time.Millisecond

// waitContext returns a context that ends when an ask is no longer waited for: after its timeout or, if it has
// none, when nobody has been there to answer it for long enough.
func (s *Stepper) waitContext(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout > 0 {
		return context.WithTimeoutCause(ctx, timeout, errNoAnswer)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if s.Unattended != nil {
		go s.watchPresence(ctx, cancel)
	}
	return ctx, func() { cancel(context.Canceled) }
}

func (s *Stepper) watchPresence(ctx context.Context, cancel context.CancelCauseFunc) {
	since := time.Now()
	tick := time.NewTicker(presenceEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.Unattended(since) {
				cancel(errNoAnswer)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
