package agent

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// carryOut carries out an order of the user: a compaction, an undo or redo, or a shell
// command.
func (s *Stepper) carryOut(ctx context.Context, j *journal, o pawl.Order) error {
	switch b := o.Body.(type) {
	case pawl.CompactionAsked:
		return s.compact(ctx, j, compaction{order: o.Seq, instructions: b.Instructions})
	case pawl.UndoAsked:
		return s.undo(ctx, j, o.Seq, b.Undo)
	case pawl.ShellAsked:
		return s.shell(ctx, j, o, b)
	default:
		return fmt.Errorf("unknown request %s", pawl.KindOf(o.Body))
	}
}
