package agent

import "github.com/pawl-dev/pawl"

// Steps are the effects that a turn is made of. C is context.Context in one
// process, workflow.Context in a fleet.
//
// A step that is called again, after a crash or by an engine that retries,
// finds its earlier attempt in the log and repeats no effect. A step ends the
// turn by returning a *pawl.Stop.
type Steps[C any] interface {
	// Prepare takes in steering prompts and what the model must be told, and makes
	// the conversation smaller when the model's window is nearly full.
	Prepare(C, pawl.Turn) error
	// Generate makes one model call; the reply is in the log when it returns.
	Generate(C, pawl.Turn) (pawl.Reply, error)
	// Authorize returns the calls that may run. A refusal is already a result.
	Authorize(C, pawl.Turn, []pawl.CallID) ([]pawl.CallID, error)
	// Execute runs the calls; their results are in the log when it returns.
	Execute(C, pawl.Turn, []pawl.CallID) error
	// Settle is asked when the model has nothing more to do: go on all the same?
	Settle(C, pawl.Turn) (again bool, err error)
}

// Run works on a turn until it ends. It decides and does nothing else: no I/O,
// no clock, no goroutine. To resume a turn, run it again from the start: the
// steps that were taken answer from the log.
func Run[C any](c C, s Steps[C], t pawl.Turn) (pawl.Reason, error) {
	for t.Step = 1; ; t.Step++ {
		if err := s.Prepare(c, t); err != nil {
			return "", err
		}
		reply, err := s.Generate(c, t)
		if err != nil {
			return "", err
		}
		if len(reply.Calls) > 0 {
			permitted, err := s.Authorize(c, t, reply.Calls)
			if err != nil {
				return "", err
			}
			if err := s.Execute(c, t, permitted); err != nil {
				return "", err
			}
		}
		again := reply.Finish == pawl.FinishToolUse
		if !again {
			if again, err = s.Settle(c, t); err != nil {
				return "", err
			}
		}
		switch {
		case t.Last():
			return pawl.ReasonMaxSteps, nil
		case !again:
			return reply.Finish.Reason(), nil
		}
	}
}
