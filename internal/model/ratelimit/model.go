package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Model is a model with limited concurrency.
type Model struct {
	model.Model
	provider *provider
	pool     *pool
}

var _ model.Model = (*Model)(nil)

// Stream implements [model.Model]. The call holds its slots from the first chunk until the stream ends. The
// consumer must not wait for another call in the meantime, which could deadlock.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		c, err := m.provider.enter(m.pool, group(req))
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		var o outcome
		defer func() { c.leave(o) }() // also if the consumer panics
		if !m.begin(ctx, c, yield) {
			return
		}
		for chunk, err := range m.Model.Stream(ctx, req) {
			o = outcomeOf(o, chunk, err)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// begin waits for the slots, and yields a notice if that takes long. It returns false if the call cannot
// proceed.
func (m *Model) begin(ctx context.Context, c *call, yield func(model.Chunk, error) bool) bool {
	bound := m.provider.bounds.Wait
	first := min(quiet, bound)
	err := c.await(ctx, first)
	if errors.Is(err, errLate) && bound > first {
		if !yield(model.Chunk{Kind: model.ChunkNotice, Text: fmt.Sprintf("waiting to call %s: %s", m.pool.name, c.why())}, nil) {
			return false
		}
		err = c.await(ctx, bound-first)
	}
	if errors.Is(err, errLate) {
		err = m.provider.full(m.pool, fmt.Sprintf(" within %s", bound), c.why())
	}
	if err != nil {
		yield(model.Chunk{}, err)
	}
	return err == nil
}

// group returns who takes turns with others: a mission with its workers, or a single session.
func group(req model.Request) pawl.SessionID { return cmp.Or(req.Parent, req.Session) }
