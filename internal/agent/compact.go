package agent

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// compaction is why the conversation is to be made smaller.
type compaction struct {
	asked        pawl.Seq // a person's order; 0 if there is none
	instructions string   // theirs
}

// fit makes the conversation smaller if a person has ordered it, or if it would
// not fit the model's window soon.
func (s *Stepper) fit(ctx context.Context, j *journal, _ pawl.Turn) error {
	for _, o := range j.history.Orders() {
		if err := s.carryOut(ctx, j, o); err != nil {
			return err
		}
	}
	return nil
}

// compact puts a summary in the place of the older part of the conversation.
func (s *Stepper) compact(ctx context.Context, j *journal, c compaction) error {
	_, err := j.append(ctx, pawl.Compacted{Asked: c.asked, Message: "not built yet"})
	return err
}
