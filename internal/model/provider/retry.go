package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
)

// The bounds of retrying.
const (
	maxRetries   = 5                // of one model
	emptyRetries = 1                // of a reply that says nothing
	firstWait    = time.Second      // doubled with each retry
	longestWait  = time.Minute      // unless the provider asks for more
	maxAsked     = 10 * time.Minute // a provider that asks for more than this is given up
)

// patient is a model that makes a call again when it failed for a reason that
// may pass, and turns to the next model when the first one stays down. Every
// wait is told by a ChunkRetry; what came before it is void.
type patient struct {
	models []named
	first  time.Duration // the first wait; 0 means firstWait
}

// named is a model with the name that people know it by.
type named struct {
	ref string
	model.Model
}

// Stream implements [model.Model].
func (p patient) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		attempt := 0
		for i, m := range p.models {
			for retries := 0; ; retries++ {
				attempt++
				failed, over := try(ctx, m, req, yield)
				if over {
					return
				}
				next, wait := m.ref, p.waitFor(failed, retries)
				if wait < 0 { // this model is given up
					if i+1 == len(p.models) || !passes(failed.ProviderError) {
						yield(model.Chunk{}, failed.ProviderError)
						return
					}
					next, wait = p.models[i+1].ref, 0
				}
				retry := pawl.Retry{Attempt: attempt, Wait: wait, Model: next, Kind: failed.Kind, Message: failed.Message}
				if !yield(model.Chunk{Kind: model.ChunkRetry, Retry: retry}, nil) {
					return
				}
				if err := sleep(ctx, wait); err != nil {
					yield(model.Chunk{}, err)
					return
				}
				if next != m.ref {
					break
				}
			}
		}
	}
}

// failure is how a try failed. A final one gives this model up at once.
type failure struct {
	*model.ProviderError
	final bool
}

// try makes the call once. over means that there is no more to do: the reply
// was whole, the caller has had enough, or the error is no model's.
func try(ctx context.Context, m named, req model.Request, yield func(model.Chunk, error) bool) (failed failure, over bool) {
	said := false
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			var full *ratelimit.FullError // it has waited for its turn long enough
			if failed.final = errors.As(err, &full); errors.As(err, &failed.ProviderError) {
				return failed, false
			}
			yield(model.Chunk{}, err)
			return failed, true
		}
		switch c.Kind {
		case model.ChunkText, model.ChunkCall:
			said = said || c.Text != "" || c.Kind == model.ChunkCall
		case model.ChunkFinish:
			if !said && c.Finish != pawl.FinishMaxTokens {
				failed.ProviderError = &model.ProviderError{Kind: pawl.ErrorEmpty, Message: "the model's reply is empty"}
				return failed, false
			}
		default: // says nothing by itself
		}
		if !yield(c, nil) || c.Kind == model.ChunkFinish {
			return failed, true
		}
	}
	failed.ProviderError = &model.ProviderError{Kind: pawl.ErrorConnection, Message: "the reply broke off"}
	return failed, false
}

// passes reports whether another model may succeed where this one failed.
func passes(e *model.ProviderError) bool { return e.Kind.Temporary() || e.Kind == pawl.ErrorAuth }

// waitFor returns how long to wait before the next try, or less than 0 if there
// should be none: 1, 2, 4, … seconds, a quarter more or less so that many do
// not come back at once, and never less than the provider asks for.
func (p patient) waitFor(e failure, retries int) time.Duration {
	limit := maxRetries
	if e.Kind == pawl.ErrorEmpty {
		limit = emptyRetries
	}
	if e.final || !e.Kind.Temporary() || retries >= limit || e.RetryAfter > maxAsked {
		return -1
	}
	wait := min(cmp.Or(p.first, firstWait)<<retries, longestWait)
	wait = wait*3/4 + rand.N(wait/2) //nolint:gosec // jitter, not a secret
	return max(wait, e.RetryAfter)
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait to retry: %w", ctx.Err())
	}
}

// priced is a model whose usage carries its cost.
type priced struct {
	model.Model
	cost func(pawl.Usage) pawl.Money
}

// Stream implements [model.Model].
func (p priced) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for c, err := range p.Model.Stream(ctx, req) {
			if c.Kind == model.ChunkUsage {
				c.Usage.Cost = p.cost(c.Usage)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
