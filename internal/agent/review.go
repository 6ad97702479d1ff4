package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// askReview asks the user whether to apply what a command has changed in its view, and
// returns nil if they agree. The wait is part of the call: if Pawl stops meanwhile, the
// changes are discarded, and the call is not run again.
func (s *Stepper) askReview(ctx context.Context, j *journal, p plannedCall, subject permission.Call, v permission.Verdict, changes toolapi.Changes) error {
	ask, err := permissionAsk(j, permission.PromptChanges(subject, v, changes), p.fingerprint(subject)+" changes", v)
	if err != nil {
		return err
	}
	answer, err := toolSession{s, j}.ask(ctx, p.started.Call, ask)
	if err != nil {
		return err
	}
	if err := answerError(p.started.Tool, answer); err != nil {
		return reviewError(answer)
	}
	if err := s.acceptAnswer(ctx, j, p, answer); err != nil {
		return fmt.Errorf("its changes were discarded: %w", err)
	}
	return nil
}

// confirmation returns the function that asks the user to replace an installed skill; nil
// if the call installs none or the mode asks nothing.
func (s *Stepper) confirmation(j *journal, p plannedCall, subject permission.Call, v permission.Verdict) func(context.Context, toolapi.Changes) error {
	if !slices.ContainsFunc(p.access, func(a pawl.Access) bool { return a.Kind == pawl.AccessSkill }) {
		return nil
	}
	switch permission.Mode(p.call.Mode) {
	case permission.ModeAsk, permission.ModeGuard:
	case permission.ModeYolo:
		return func(context.Context, toolapi.Changes) error { return nil }
	default:
		return nil
	}
	v.Decision, v.Why, v.Findings = permission.Review, "this replaces an installed skill", nil
	return func(ctx context.Context, changes toolapi.Changes) error {
		return s.askReview(ctx, j, p, subject, v, changes)
	}
}

// reviewError says for people and the model why changes are not applied.
func reviewError(a pawl.Answer) error {
	switch {
	case a.Outcome == pawl.OutcomeAbsent:
		return errors.New("its changes were discarded: no user is present to approve them")
	case a.Outcome == pawl.OutcomeTimeout:
		return errors.New("its changes were discarded: they were not approved in time")
	case a.Outcome == pawl.OutcomeDenied && a.Text != "":
		return errors.New("the user discarded its changes and said: " + a.Text)
	default:
		return errors.New("the user discarded its changes")
	}
}

// stoppedByReview returns the end of the turn if the user discarded the changes of a
// call without a message to the model, or did not answer in time.
func (s *Stepper) stoppedByReview(j *journal, plans []plannedCall) error {
	for _, p := range plans {
		if p.call.Review == nil && p.call.Confirm == nil {
			continue
		}
		c := toolSession{s, j}.call(p.started.Call)
		var stop *Stop
		if errors.As(earlierAnswerError(&c), &stop) {
			return stop
		}
	}
	return nil
}

// inReview reports whether a call was waiting for the user to approve its changes when
// Pawl stopped: they are discarded.
func (j *journal) inReview(id pawl.CallID) bool {
	c := j.history.Call(id)
	return c != nil && c.Started != nil && c.Permission != nil && c.Permission.Answer == nil
}

// finishCall writes the result of a call, and cancels its open permission prompt.
func (s *Stepper) finishCall(ctx context.Context, j *journal, f pawl.CallFinished) error {
	c := toolSession{s, j}.call(f.Call)
	if a := c.Permission; a != nil {
		open := func() bool { return a.Answer == nil }
		stored, err := j.appendIf(ctx, open, pawl.Answered{Ask: a.Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeCanceled}}, f)
		if err != nil || len(stored) > 0 {
			return err
		}
	}
	_, err := j.append(ctx, f)
	return err
}
