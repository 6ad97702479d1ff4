package agent

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// Plan says what a Revert would do; see [pawl.Service].
func (s *Stepper) Plan(context.Context, pawl.SessionID, pawl.Revert) (pawl.RevertPlan, error) {
	return pawl.RevertPlan{}, pawl.ErrUnavailable
}

// revert takes the session back to before a message, or forward again.
func (s *Stepper) revert(ctx context.Context, j *journal, asked pawl.Seq, _ pawl.Revert) error {
	_, err := j.append(ctx, pawl.Reverted{Asked: asked, Refused: "not built yet"})
	return err
}
