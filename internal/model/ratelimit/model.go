package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-dev/pawl"
)

// Model is a model whose calls are limited.
type Model struct {
	pawl.Model
	provider *provider
	pool     *pool
}

var _ pawl.Model = (*Model)(nil)

// Stream implements [pawl.Model]. The call has its slots from the first chunk of
// the reply until the stream ends, in whatever way. Whoever reads it must not
// make another call meanwhile and wait for that.
func (m *Model) Stream(ctx context.Context, req pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		c, err := m.provider.enter(m.pool, group(req))
		if err != nil {
			yield(pawl.Chunk{}, err)
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
func (m *Model) begin(ctx context.Context, c *call, yield func(pawl.Chunk, error) bool) bool {
	bound := m.provider.bounds.Wait
	first := min(quiet, bound)
	err := c.await(ctx, first)
	if errors.Is(err, errLate) && bound > first {
		if !yield(pawl.Chunk{Kind: pawl.ChunkNotice, Text: fmt.Sprintf("waiting for a turn to ask %s: %s", m.pool.name, c.why())}, nil) {
			return false
		}
		err = c.await(ctx, bound-first)
	}
	if errors.Is(err, errLate) {
		err = m.provider.full(m.pool, fmt.Sprintf("within %s", bound), c.why())
	}
	if err != nil {
		yield(pawl.Chunk{}, err)
	}
	return err == nil
}

// group is who takes turns with others: a mission and its workers together, or
// a session by itself.
func group(req pawl.Request) pawl.SessionID { return cmp.Or(req.Parent, req.Session) }
