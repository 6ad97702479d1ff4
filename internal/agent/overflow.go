package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// read asks the model. If the request is too large for it, the conversation is
// made smaller and the model asked once more, with less. An attempt that was
// resumed finds in the log that this was done.
func (s *Stepper) read(ctx context.Context, r *reply, q question) error {
	j := r.journal
	if c := j.history.Compaction(); c != nil && c.Seq > r.started {
		return stillTooLarge(r.read(ctx, q.model, q.after(c).fitted(j)))
	}
	err := r.read(ctx, q.model, q.fitted(j))
	if !overflows(err) || ctx.Err() != nil {
		return err
	}
	if err := s.makeRoom(ctx, r, err); err != nil {
		return err
	}
	return stillTooLarge(r.read(ctx, q.model, q.after(j.history.Compaction()).fitted(j)))
}

// after is the question once a request was too large and the conversation was
// made smaller for it.
func (q question) after(c *pawl.Compaction) question {
	q.room = q.room.After(c.Compacted.Before + q.fixed)
	return q
}

// makeRoom makes the conversation smaller in the middle of a step.
func (s *Stepper) makeRoom(ctx context.Context, r *reply, why error) error {
	if len(r.text.all)+len(r.think.all) > 0 {
		if err := r.restart(ctx, pawl.Retry{Attempt: 1, Model: r.model, Kind: pawl.ErrorOverflow, Message: why.Error()}); err != nil {
			return err
		}
	}
	r.parts, r.usage = nil, pawl.Usage{}
	err := s.compact(ctx, r.journal, compaction{hopeless: r.journal.hopeless()})
	if err == nil {
		_, err = s.budget(ctx, r.journal)
	}
	if err != nil && ctx.Err() == nil {
		return &unwrittenError{err} // not the model's failure
	}
	return err
}

// overflows reports whether a request was too large for the model.
func overflows(err error) bool {
	var failed *pawl.ModelError
	return errors.As(err, &failed) && failed.Kind == pawl.ErrorOverflow
}

// stillTooLarge says what to do when less was too large as well.
func stillTooLarge(err error) error {
	if !overflows(err) {
		return err
	}
	return fmt.Errorf("the request is too large for the model, also after the conversation was made smaller: "+
		"send a shorter prompt, make the conversation smaller (pawl session compact), or choose a model with a larger window: %w", err)
}
