package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
)

// Bounds of retries.
const (
	maxRetries   = 5                // for each model
	emptyRetries = 1                // after an empty reply
	firstWait    = time.Second      // first backoff, doubled with each retry
	longestWait  = time.Minute      // maximum backoff, unless the provider asks for more
	maxAsked     = 10 * time.Minute // a provider that asks to wait longer is given up
)

// retrying is a model that retries temporary failures with exponential backoff, and falls back to the next model
// when the current one stays unavailable. It announces each wait with a ChunkRetry, which voids the chunks
// before it.
type retrying struct {
	models  []named
	first   time.Duration // first backoff; 0 means firstWait
	warning *warning      // shown with the first reply; nil means none
}

// warning is a text that is shown once.
type warning struct {
	text  string
	shown atomic.Bool
}

// take returns the text on the first call, then "". Requests for titles and summaries do not count: nobody
// sees what they report.
func (w *warning) take(agent string) string {
	if w == nil || slices.Contains([]string{model.AgentTitle, model.AgentSummary, model.AgentCompaction}, agent) || w.shown.Swap(true) {
		return ""
	}
	return w.text
}

// named is a model with its reference.
type named struct {
	ref string
	model.Model
}

// hinted adds to an error about the API key whose key it is, and how to replace it.
func (m named) hinted(e *model.ProviderError) error {
	p, ok := m.Model.(priced)
	if !ok || e.Kind != pawl.ErrorAuth {
		return e
	}
	return fault.New(e, "%s rejected the API key: %w", p.provider, e).Hint("Run `pawl auth login %s` to replace it.", p.provider)
}

// Stream implements [model.Model].
func (p retrying) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if text := p.warning.take(req.Agent); text != "" && !yield(model.Chunk{Kind: model.ChunkNotice, Text: text}, nil) {
			return
		}
		attempt := 0
		for i, m := range p.models {
			for retries := 0; ; retries++ {
				attempt++
				failed, over := try(ctx, m, req, yield)
				if over {
					return
				}
				next, wait := m.ref, p.backoff(failed, retries)
				if wait < 0 { // give up this model
					if i+1 == len(p.models) || !passes(failed.ProviderError) {
						yield(model.Chunk{}, m.hinted(failed.ProviderError))
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

// failure is a failed attempt. If it is final, the model is not retried.
type failure struct {
	*model.ProviderError
	final bool
}

// try makes the call once. over means that nothing is left to do: the reply is complete, the caller has
// stopped, or the error is not a provider error.
func try(ctx context.Context, m named, req model.Request, yield func(model.Chunk, error) bool) (failed failure, over bool) {
	said := false
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			var full *ratelimit.FullError // it has waited for its turn already
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
		default: // not content by itself
		}
		if !yield(c, nil) || c.Kind == model.ChunkFinish {
			return failed, true
		}
	}
	failed.ProviderError = &model.ProviderError{Kind: pawl.ErrorConnection, Message: "the reply was cut off"}
	return failed, false
}

// passes reports whether another model may succeed where this one failed.
func passes(e *model.ProviderError) bool { return e.Kind.Temporary() || e.Kind == pawl.ErrorAuth }

// backoff returns the backoff before the next attempt, or a negative value to give up: 1, 2, 4, … seconds with
// 25 % jitter, so that clients do not retry in step, and at least what the provider asks for.
func (p retrying) backoff(e failure, retries int) time.Duration {
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

// sleep waits for d, or until ctx ends.
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

// priced adds the cost to a model's usage.
type priced struct {
	model.Model
	provider string // its ID
	cost     func(pawl.Usage) pawl.Money
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
