package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// call is a model call that waits for its slots or holds them. The provider's lock guards all fields except
// ready.
type call struct {
	provider *provider
	model    *pool
	state    state
	began    struct{ all, model int } // cut counts of the pools when it began
	line     *line                    // the queue it waits in
	ready    chan struct{}            // closed when it gets its slots; nil if it got them at once
}

type state int

const (
	runs state = iota
	waits
	over
)

// errLate means that the wait timed out.
var errLate = errors.New("late")

// begin takes the slots.
func (c *call) begin() {
	p := c.provider
	c.state = runs
	c.began.all, c.began.model = p.all.cuts, c.model.cuts
	p.all.running++
	c.model.running++
}

// await waits until the call has its slots. It returns errLate after d, or the error of ctx.
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

// leave releases the slots, or the place in the queue, and adapts the limits to the outcome.
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

// why describes what the call waits for.
func (c *call) why() string {
	p := c.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := c.model.pause(); d > 0 {
		return fmt.Sprintf("the provider asked to wait %s", d.Round(time.Second))
	}
	tight := p.all
	if c.model.running >= c.model.limit {
		tight = c.model
	}
	return fmt.Sprintf("%d of %d calls to %s running, %d waiting", tight.running, tight.limit, tight.name, p.waiting)
}

// outcome is what a call reveals about the provider's capacity. The zero value reveals nothing: the call was
// aborted, or failed for another reason.
type outcome struct {
	good    bool
	refused bool          // the provider rejected it as one too many
	pause   time.Duration // requested by the provider
}

// outcomeOf updates the outcome with another chunk or error of the stream.
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
