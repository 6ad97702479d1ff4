package runner

import (
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// steps are the effects of a turn as a workflow has them. What can be done in one
// trip to the host is: Generate has the calls of the step before run and prepares,
// and it settles if there is nothing to run. So a step is one trip.
type steps struct {
	*session
	taken   int           // steps that an earlier workflow has behind it
	goesOn  bool          // the last reply says that another one follows
	calls   []pawl.CallID // of the last reply, which the next trip runs
	settled *bool         // what Settle was told on the way
}

var _ agent.Steps[workflow.Context] = (*steps)(nil)

// Prepare is done by Generate's trip. What another workflow goes on with it finds in
// the log, also what is still to run.
func (s *steps) Prepare(ctx workflow.Context, t pawl.Turn) error {
	if t.Step > s.taken+1 && workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		return errAnew
	}
	return s.still(t)
}

// still ends a turn that was canceled.
func (s *steps) still(t pawl.Turn) error {
	if s.canceled(t) {
		return &pawl.Stop{Reason: pawl.ReasonCanceled}
	}
	return nil
}

func (s *steps) Generate(ctx workflow.Context, t pawl.Turn) (pawl.Reply, error) {
	if t.Step <= s.taken {
		return pawl.Reply{Finish: pawl.FinishToolUse}, nil // it went on
	}
	out, err := s.ask(ctx, executor.Think, StepRequest{Turn: t, Calls: s.calls})
	s.goesOn, s.calls = out.Reply.Finish == pawl.FinishToolUse, nil
	if s.settled = nil; out.Settled {
		s.settled = &out.Again
	}
	return out.Reply, err
}

// Authorize leaves the calls to the next trip. Without one it makes its own.
func (s *steps) Authorize(ctx workflow.Context, t pawl.Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	if s.goesOn && !t.Last() {
		s.calls = ids
		return nil, nil
	}
	_, err := s.ask(ctx, executor.Act, StepRequest{Turn: t, Calls: ids})
	return nil, err
}

// Execute has nothing left to do: what is permitted was run where that was known.
func (s *steps) Execute(workflow.Context, pawl.Turn, []pawl.CallID) error { return nil }

func (s *steps) Settle(ctx workflow.Context, t pawl.Turn) (again bool, err error) {
	if s.settled != nil {
		return *s.settled, nil
	}
	out, err := s.ask(ctx, executor.Settle, StepRequest{Turn: t})
	return out.Again, err
}

// ask is trip for a step that may have to wait for a person, for days if need be.
func (s *steps) ask(ctx workflow.Context, activity any, t StepRequest) (StepResult, error) {
	for {
		if err := s.still(t.Turn); err != nil {
			return StepResult{}, err
		}
		seen := s.seen()
		out, err := s.trip(ctx, activity, t)
		if err != nil || !out.Waits {
			return out, err
		}
		if err := s.await(ctx, seen, out.Until); err != nil {
			return out, err
		}
	}
}
