package agent

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl"
)

// Prepare adds to the conversation what the model must know before the next step (prompts
// that steer, results of background subagents, news of the mission, a warning about the
// budget, a loop or the last step) and compacts it when the context window is nearly full.
func (s *Stepper) Prepare(ctx context.Context, t Turn) error {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) >= t.Step {
		return nil // an earlier attempt got past this
	}
	s.reportServers(j, t.Number)
	warning, err := s.checkBudgets(ctx, j)
	if err != nil {
		return err
	}
	bodies, err := s.finishedSubagents(ctx, open)
	if err != nil {
		return err
	}
	news, err := s.advanceMission(ctx, j)
	if err != nil {
		return err
	}
	bodies = append(bodies, news...)
	if warning != "" {
		bodies = append(bodies, pawl.Injected{Source: "budget", Text: warning})
	}
	loopWarnings, err := s.guardLoops(ctx, j)
	if err != nil {
		return err
	}
	bodies = append(bodies, loopWarnings...)
	if t.Last() && !slices.Contains(open.Injected, "max_steps") {
		bodies = append(bodies, pawl.Injected{Source: "max_steps", Text: lastStepText})
	}
	if err := s.runSessionStartHooks(ctx, j, open.Settings); err != nil { // if they failed in Begin
		return err
	}
	if err := s.inject(ctx, j, append(bodies, s.takeHookTexts(j)...)); err != nil {
		return err
	}
	if err := s.fitContext(ctx, j, t); err != nil {
		return err
	}
	if texts := s.takeHookTexts(j); len(texts) > 0 {
		_, err = j.append(ctx, texts...)
	}
	return err
}

const lastStepText = "This is the last step that you are allowed in this turn: no tools can be called any more. " +
	"Summarize the finished work, the open work and the next steps."

// inject appends the bodies, and those that add the prompts that steer.
func (s *Stepper) inject(ctx context.Context, j *journal, bodies []pawl.Body) error {
	for { // again if a prompt is changed or withdrawn at the same time
		all := slices.Clone(bodies)
		unchanged := func() bool { return true }
		for _, w := range j.steeringPrompts() {
			more, err := s.steeringEvents(ctx, j, w)
			if err != nil {
				return err
			}
			before, same := unchanged, j.stillWaiting(w)
			all, unchanged = append(all, more...), func() bool { return before() && same() }
		}
		if len(all) == 0 {
			return nil
		}
		if stored, err := j.appendIf(ctx, unchanged, all...); err != nil || stored != nil {
			return err
		}
	}
}
