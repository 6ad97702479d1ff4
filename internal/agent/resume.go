package agent

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// A turn is resumed by running it again from its first step: the steps that were taken
// answer from the log. This file is about the calls that were interrupted, because the
// process died while they ran. plannedCall.startedBefore marks them: those that only
// read run again, any other gets an interruptedResult.

// Commands knows the outcomes of the commands of interrupted calls; see package
// transaction.
type Commands interface {
	// Interrupted returns the outcome of the command of a call, or nil if that is not
	// known.
	Interrupted(ctx context.Context, c transaction.Call) (*transaction.Record, error)
	// Forget is called when the result of a call is in the log.
	Forget(c transaction.Call)
}

var _ Commands = (*transaction.Store)(nil)

// maxInterruptedDiff bounds the diff in the result of an interrupted call, in bytes.
const maxInterruptedDiff = 8 << 10

// unknownResult is the result of an interrupted call, whose outcome is unknown.
func unknownResult(id pawl.CallID) pawl.CallFinished {
	return pawl.CallFinished{Call: id, Status: pawl.CallUnknown, Result: toolapi.ErrorResult(
		"The outcome of this call is unknown: pawl was stopped while it ran, so it may have done all, part or none of its work. " +
			"It was not run again. Inspect the current state before you continue.")}
}

// interruptedResult returns the result of a call that was running when pawl died, with
// the changes in the workspace since it began.
func (s *Stepper) interruptedResult(ctx context.Context, j *journal, started pawl.CallStarted) pawl.CallFinished {
	f := unknownResult(started.Call)
	rec, err := s.commandRecord(ctx, j, started.Call)
	if err != nil {
		f.Result.Content += "\n\n" + changesUnknown(err)
	}
	if rec != nil {
		f.Status, f.Result = tool.InterruptedBash(*rec)
		f.Result = s.sanitizeResult(f.Result)
	}
	if j.inReview(started.Call) && (rec == nil || !rec.Ended) {
		f.Result = toolapi.ErrorResult("Pawl was stopped while the user was asked about the changes of this command: they were discarded. " +
			"It was not run again.")
	}
	if rec != nil && !rec.Ended {
		f.Snapshot, f.DirSnapshots = started.Snapshot, started.DirSnapshots // it changed nothing, so there is nothing to undo
		return f
	}
	if started.ReadOnly || s.Snapshots == nil {
		return f
	}
	ctx, end := withGrace(ctx, snapshotGrace)
	defer end()
	s.snapshotAfter(ctx, j, started, &f)
	if started.Snapshot == "" {
		return f
	}
	f.Result.Content += "\n\n" + s.changedSince(ctx, j, started.Snapshot, f.Snapshot)
	f.Result = s.sanitizeResult(f.Result)
	return f
}

// commandRecord returns the outcome of the command of an interrupted call, or nil if that
// is not known.
func (s *Stepper) commandRecord(ctx context.Context, j *journal, id pawl.CallID) (*transaction.Record, error) {
	if s.Commands == nil {
		return nil, nil
	}
	rec, err := s.Commands.Interrupted(context.WithoutCancel(ctx), transaction.Call{Session: j.id, ID: id}) // a canceled turn needs it, too
	if err != nil || rec == nil || rec.Ended && s.Checkpoint != nil {
		return nil, err // the workspace may have been restored to a checkpoint from before the command
	}
	return rec, nil
}

// forgetCommand returns the function that drops the record of a session's call.
func (s *Stepper) forgetCommand(session pawl.SessionID) func(pawl.CallID) {
	return func(id pawl.CallID) {
		if s.Commands != nil {
			s.Commands.Forget(transaction.Call{Session: session, ID: id})
		}
	}
}

// changedSince describes for the model what changed in the workspace between two
// snapshots, in the files that it may read.
func (s *Stepper) changedSince(ctx context.Context, j *journal, before, after string) string {
	policy, err := s.policy(ctx, j)
	if err != nil {
		return changesUnknown(err)
	}
	visible := readable(policy, "read")
	diff, hidden, err := s.Snapshots.PatchOf(ctx, j.history.Created().Dir, snapshot.ID(before), snapshot.ID(after), maxInterruptedDiff, visible)
	if err != nil {
		return changesUnknown(err)
	}
	text := "Nothing in the workspace has changed since it started, apart from files that are ignored there."
	if diff != "" || hidden > 0 {
		text = "Changes in the workspace since it started, by it or by others:\n" + diff
	}
	if hidden > 0 {
		text += fmt.Sprintf("(%d changed files are not shown: they may not be read)", hidden)
	}
	return text
}

func changesUnknown(err error) string {
	return fmt.Sprintf("The changes in the workspace since it started cannot be determined: %.*s", maxUnsafe, err)
}

// finishOpenCalls returns a result for each call of the open turn that has none: calls
// that did not start get the given status, the others an interruptedResult.
func (s *Stepper) finishOpenCalls(ctx context.Context, j *journal, status pawl.CallStatus) []pawl.Body {
	var bodies []pawl.Body
	for _, step := range j.history.Open().Steps {
		if !step.Replied {
			continue
		}
		for _, id := range step.Calls {
			switch call := j.history.Call(id); {
			case call.Finished:
			case call.Started == nil:
				bodies = append(bodies, pawl.CallFinished{Call: id, Status: status, Result: toolapi.ErrorResult("not run: " + string(status))})
			default:
				bodies = append(bodies, s.interruptedResult(ctx, j, *call.Started))
			}
		}
	}
	return bodies
}

// StepsTaken returns how many steps of the open turn are finished. A runner that
// resumes the turn can skip them.
func (s *Stepper) StepsTaken(ctx context.Context, t Turn) (int, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return 0, err
	}
	defer j.leave()
	return max(0, len(j.history.Open().Steps)-1), nil
}
