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

// Model is a model whose calls are limited.
type Model struct {
	model.Model
	provider *provider
	pool     *pool
}

var _ model.Model = (*Model)(nil)

// Stream implements [model.Model]. The call has its slots from the first chunk of
// the reply until the stream ends, in whatever way. Whoever reads it must not
// make another call meanwhile and wait for that.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		c, err := m.provider.enter(m.pool, group(req))
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		var o outcome
		defer func() { c.leave(o) }() // also if the reader panics
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

// begin waits for the slots, and says so if it takes long. false means that
// there is no more to do.
func (m *Model) begin(ctx context.Context, c *call, yield func(model.Chunk, error) bool) bool {
	bound := m.provider.bounds.Wait
	first := min(quiet, bound)
	err := c.await(ctx, first)
	if errors.Is(err, errLate) && bound > first {
		if !yield(model.Chunk{Kind: model.ChunkNotice, Text: fmt.Sprintf("waiting for a turn to ask %s: %s", m.pool.name, c.why())}, nil) {
			return false
		}
		err = c.await(ctx, bound-first)
	}
	if errors.Is(err, errLate) {
		err = m.provider.full(m.pool, fmt.Sprintf("within %s", bound), c.why())
	}
	if err != nil {
		yield(model.Chunk{}, err)
	}
	return err == nil
}

// group is who takes turns with others: a mission and its workers together, or
// a session by itself.
func group(req model.Request) pawl.SessionID { return cmp.Or(req.Parent, req.Session) }
