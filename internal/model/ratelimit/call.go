package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// call is a model call that waits for its slots or has them. All but ready is
// its provider's to lock.
type call struct {
	provider *provider
	model    *pool
	state    state
	began    struct{ all, model int } // the cuts of the pools when it began
	line     *line                    // that it waits in
	ready    chan struct{}            // closed once it has its slots; nil if it had them at once
}

type state int

const (
	runs state = iota
	waits
	over
)

// errLate: the time to wait is over, and the call waits still.
var errLate = errors.New("late")

// begin takes the slots.
func (c *call) begin() {
	p := c.provider
	c.state = runs
	c.began.all, c.began.model = p.all.cuts, c.model.cuts
	p.all.running++
	c.model.running++
}

// await returns once the call has its slots, or errLate after a time, or with
// the end of ctx.
func (c *call) await(ctx context.Context, d time.Duration) error {
	if c.ready == nil {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	var err error
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for a slot of %s: %w", c.model.name, ctx.Err())
	case <-timer.C:
		err = errLate
	}
	select {
	case <-c.ready: // at the last moment
		return nil
	default:
		return err
	}
}

// leave gives the slots back, or the place in the line, and lets the limits
// follow what came of the call.
func (c *call) leave(o outcome) {
	p := c.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	was := c.state
	c.state = over
	switch was {
	case waits:
		p.drop(c)
		return
	case over:
		return
	case runs:
	}
	p.all.running--
	c.model.running--
	switch {
	case o.refused:
		p.all.cut(c.began.all)
		c.model.cut(c.began.model)
		p.pause(c.model, o.pause)
	case o.good:
		p.all.grow(c.began.all)
		c.model.grow(c.began.model)
	}
	p.dispatch()
}

// why says what the call waits for.
func (c *call) why() string {
	p := c.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := c.model.pause(); d > 0 {
		return fmt.Sprintf("the provider asks for a pause, of %s from now", d.Round(time.Second))
	}
	tight := p.all
	if c.model.running >= c.model.limit {
		tight = c.model
	}
	return fmt.Sprintf("%d calls to %s run at once, of at most %d for now, and %d wait", tight.running, tight.name, tight.limit, p.waiting)
}

// outcome is what a call says about how many the provider bears. The zero value
// says nothing: the call was broken off, or failed for another reason.
type outcome struct {
	good    bool
	refused bool          // there were too many
	pause   time.Duration // that the provider asks for
}

// outcomeOf is the outcome so far, with a further piece of the stream.
func outcomeOf(o outcome, c model.Chunk, err error) outcome {
	var failure *model.ProviderError
	switch {
	case errors.As(err, &failure) && (failure.Kind == pawl.ErrorRateLimited || failure.Kind == pawl.ErrorOverloaded):
		return outcome{refused: true, pause: failure.RetryAfter}
	case err != nil:
		return outcome{}
	case c.Kind == model.ChunkFinish:
		return outcome{good: true}
	}
	return o
}
