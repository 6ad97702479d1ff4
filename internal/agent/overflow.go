package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// read sends the request and reads the reply. If the request overflows the context window,
// it compacts the conversation and tries once more. A resumed attempt finds the compaction
// in the log.
func (s *Stepper) read(ctx context.Context, r *reply, q modelRequest) error {
	j := r.journal
	if c := j.history.Compaction(); c != nil && c.Seq > r.started {
		return stillTooLarge(r.read(ctx, q.model, q.afterOverflow(c).fitted(j)))
	}
	err := r.read(ctx, q.model, q.fitted(j))
	if !isOverflow(err) || ctx.Err() != nil {
		return err
	}
	if err := s.compactAfterOverflow(ctx, r, err); err != nil {
		return err
	}
	return stillTooLarge(r.read(ctx, q.model, q.afterOverflow(j.history.Compaction()).fitted(j)))
}

// afterOverflow returns the request with the smaller token budget that applies after an
// overflow and its compaction.
func (q modelRequest) afterOverflow(c *pawl.Compaction) modelRequest {
	q.budget = q.budget.After(c.Compacted.Before + q.fixed)
	return q
}

// compactAfterOverflow compacts the conversation in the middle of a step.
func (s *Stepper) compactAfterOverflow(ctx context.Context, r *reply, why error) error {
	if len(r.text.all)+len(r.think.all) > 0 {
		if err := r.restart(ctx, pawl.Retry{Attempt: 1, Model: r.model, Kind: pawl.ErrorOverflow, Message: why.Error()}); err != nil {
			return err
		}
	}
	r.parts, r.usage = nil, pawl.Usage{}
	err := s.compact(ctx, r.journal, compaction{futile: r.journal.futile(), reserved: true})
	if err == nil {
		_, err = s.checkBudgets(ctx, r.journal)
	}
	if err != nil && ctx.Err() == nil {
		return &unwrittenError{err} // not the model's failure
	}
	return err
}

// isOverflow reports whether a request was too large for the model's context window.
func isOverflow(err error) bool {
	var failed *model.ProviderError
	return errors.As(err, &failed) && failed.Kind == pawl.ErrorOverflow
}

// stillTooLarge adds advice to the error if the compacted request overflows as well.
func stillTooLarge(err error) error {
	if !isOverflow(err) {
		return err
	}
	return fmt.Errorf("the request does not fit in the model's context window, even after compacting the conversation; "+
		"send a shorter prompt, or choose a model with a larger context window: %w", err)
}
