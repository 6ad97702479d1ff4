package runner

import (
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// steps implements agent.Steps in a workflow. It combines what can be done in one activity: Generate executes the calls
// of the previous step, prepares, makes the model request, and settles the turn if there are no new calls. So a step
// costs one round trip to the host.
type steps struct {
	*session
	taken       int           // steps completed by an earlier workflow
	expectsMore bool          // the last reply ended with tool calls, so another request follows
	calls       []pawl.CallID // calls of the last reply, executed by the next Generate
	settled     *bool         // the result of Settle, if Generate has it already
}

var _ agent.Steps[workflow.Context] = (*steps)(nil)

// Prepare is part of the Think activity. When the history gets long it continues as a new workflow, which finds in the
// log what is still to be done.
func (s *steps) Prepare(ctx workflow.Context, t agent.Turn) error {
	if t.Step > s.taken+1 && workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		return errContinueAsNew
	}
	return s.checkCanceled(t)
}

// checkCanceled returns a Stop if the turn was canceled.
func (s *steps) checkCanceled(t agent.Turn) error {
	if s.canceled(t) {
		return &agent.Stop{Reason: pawl.ReasonCanceled}
	}
	return nil
}

func (s *steps) Generate(ctx workflow.Context, t agent.Turn) (agent.Reply, error) {
	if t.Step <= s.taken {
		return agent.Reply{Finish: pawl.FinishToolUse}, nil // an earlier workflow did this step
	}
	out, err := s.ask(ctx, executor.Think, StepRequest{Turn: t, Calls: s.calls})
	s.expectsMore, s.calls = out.Reply.Finish == pawl.FinishToolUse, nil
	if s.settled = nil; out.Settled {
		s.settled = &out.Again
	}
	return out.Reply, err
}

// Authorize leaves the calls to the next Generate. Without one it runs them in an activity of their own.
func (s *steps) Authorize(ctx workflow.Context, t agent.Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	if s.expectsMore && !t.Last() {
		s.calls = ids
		return nil, nil
	}
	_, err := s.ask(ctx, executor.Act, StepRequest{Turn: t, Calls: ids})
	return nil, err
}

// Execute does nothing: Authorize or the next Generate executes the calls.
func (s *steps) Execute(workflow.Context, agent.Turn, []pawl.CallID) error { return nil }

func (s *steps) Settle(ctx workflow.Context, t agent.Turn) (again bool, err error) {
	if s.settled != nil {
		return *s.settled, nil
	}
	out, err := s.ask(ctx, executor.Settle, StepRequest{Turn: t})
	return out.Again, err
}

// ask runs a step that may have to wait for a person, possibly for days.
func (s *steps) ask(ctx workflow.Context, activity any, t StepRequest) (StepResult, error) {
	for {
		if err := s.checkCanceled(t.Turn); err != nil {
			return StepResult{}, err
		}
		seen := s.receiveSignals()
		out, err := s.runStep(ctx, activity, t)
		if err != nil || !out.Waits {
			return out, err
		}
		if err := s.await(ctx, seen, out.Until); err != nil {
			return out, err
		}
	}
}
