package agent

import "github.com/pawl-dev/pawl"

// Steps are the effects of the agent loop. C is context.Context in one process and
// workflow.Context in a fleet.
//
// A step that is repeated, after a crash or by an engine that retries, finds its
// earlier attempt in the log and repeats no effect. A step ends the turn by
// returning a *Stop.
type Steps[C any] interface {
	// Prepare adds steering prompts and other messages for the model, and compacts
	// the conversation when the context window is nearly full.
	Prepare(C, Turn) error
	// Generate makes one model call; the reply is in the log when it returns.
	Generate(C, Turn) (Reply, error)
	// Authorize returns the calls that may run; the others have a result already.
	Authorize(C, Turn, []pawl.CallID) ([]pawl.CallID, error)
	// Execute runs the calls; their results are in the log when it returns.
	Execute(C, Turn, []pawl.CallID) error
	// Settle reports whether the turn goes on though the model made no more calls.
	Settle(C, Turn) (goOn bool, err error)
}

// Run runs the agent loop for one turn until it ends. It only decides: no I/O, no
// clock, no goroutine. To resume a turn, run it again from the start: the steps
// that were taken answer from the log.
func Run[C any](c C, s Steps[C], t Turn) (pawl.Reason, error) {
	for t.Step = 1; ; t.Step++ {
		if err := s.Prepare(c, t); err != nil {
			return "", err
		}
		reply, err := s.Generate(c, t)
		if err != nil {
			return "", err
		}
		if len(reply.Calls) > 0 {
			allowed, err := s.Authorize(c, t, reply.Calls)
			if err != nil {
				return "", err
			}
			if err := s.Execute(c, t, allowed); err != nil {
				return "", err
			}
		}
		goOn := reply.Finish == pawl.FinishToolUse
		if !goOn {
			if goOn, err = s.Settle(c, t); err != nil {
				return "", err
			}
		}
		switch {
		case t.Last():
			return pawl.ReasonMaxSteps, nil
		case !goOn:
			return reply.Finish.Reason(), nil
		}
	}
}
