package agent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
)

// Parked is how a step ends that waits for a person, or long for other sessions,
// where steps do not wait; see Config.Park. It is to be taken again when there is
// an answer, or at Until.
type Parked struct {
	Ask   pawl.Seq  // 0 if it waits for other sessions
	Until time.Time // zero means never
}

func (p *Parked) Error() string {
	if p.Ask == 0 {
		return "it waits for other sessions"
	}
	return fmt.Sprintf("it waits for the answer to %d", p.Ask)
}

// The bounds of a step that waits for other sessions.
const (
	usualPatience = 2 * time.Minute // then it parks
	maxParked     = 2 * time.Minute // then it is taken again
)

func (s *Stepper) patience() time.Duration { return cmp.Or(s.Patience, usualPatience) }

// parked ends a step that waits for other sessions, for at most this long.
func (s *Stepper) parked(most time.Duration) *Parked {
	return &Parked{Until: s.Clock().Add(min(most, maxParked))}
}

// parks reports whether what asks can be taken again later. A call that may have
// done something already cannot, and waits where it is.
func (h host) parks(call pawl.CallID) bool {
	if !h.j.s.Park {
		return false
	}
	if call == "" {
		return true
	}
	started := h.call(call).Started
	return started == nil || started.ReadOnly
}

// park returns the answer to an ask, or that it has to be waited for. The time of
// an ask counts from when it was put: somebody is there to take the answer always.
func (h host) park(ctx context.Context, asked *pawl.OpenAsk) (pawl.Answer, error) {
	h.j.mu.Lock()
	_, err := h.j.readOn(ctx)
	answer := asked.Answer
	h.j.mu.Unlock()
	switch {
	case err != nil:
		return pawl.Answer{}, err
	case answer != nil:
		return *answer, nil
	}
	parked := &Parked{Ask: asked.Seq}
	if d := asked.Asked.Timeout; d > 0 {
		parked.Until = asked.At.Add(d)
		if !h.j.s.Clock().Before(parked.Until) {
			return h.answer(ctx, asked, pawl.OutcomeTimeout)
		}
	}
	return pawl.Answer{}, parked
}

// unasked ends what the open turn still asks: nobody needs to answer any more.
func (j *journal) unasked() []pawl.Body {
	open := j.history.Open()
	asks := []*pawl.OpenAsk{open.Asked}
	for _, step := range open.Steps {
		if step.Reply == nil {
			continue
		}
		for _, id := range step.Reply.Calls {
			call := j.history.Call(id)
			asks = append(asks, call.Permission, call.Asked)
		}
	}
	var bodies []pawl.Body
	for _, a := range asks {
		if a != nil && a.Answer == nil {
			bodies = append(bodies, pawl.Answered{Ask: a.Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeCanceled}})
		}
	}
	return bodies
}

// Taken returns how many steps of the open turn are behind it: those need not be
// taken again.
func (s *Stepper) Taken(ctx context.Context, t pawl.Turn) (int, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return 0, err
	}
	defer j.leave()
	return max(0, len(j.history.Open().Steps)-1), nil
}
