package agent

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// Snapshots keep what a workspace held at a time.
type Snapshots interface {
	// Take keeps what the folder holds now, for as long as the session lives.
	Take(ctx context.Context, dir string, id pawl.SessionID) (snapshot string, err error)
}

// Plan says what a Revert would do; see [pawl.Service].
func (s *Stepper) Plan(context.Context, pawl.SessionID, pawl.Revert) (pawl.RevertPlan, error) {
	return pawl.RevertPlan{}, pawl.ErrUnavailable
}

// revert takes the session back to before a message, or forward again.
func (s *Stepper) revert(ctx context.Context, j *journal, asked pawl.Seq, _ pawl.Revert) error {
	_, err := j.append(ctx, pawl.Reverted{Asked: asked, Refused: "not built yet"})
	return err
}
