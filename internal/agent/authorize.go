package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Authority decides what calls may do, and keeps the rules of "always allow" answers.
type Authority interface {
	// Policy returns the current permission policy for a session in a directory.
	Policy(ctx context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error)
	// SaveRules adds rules for a directory, or only for a session in it. Rules that it has already
	// stay as they are.
	SaveRules(ctx context.Context, dir string, session pawl.SessionID, rules []json.RawMessage) error
}

// deniedError says why a call is denied.
type deniedError struct{ why string }

func (e *deniedError) Error() string { return e.why }

func denied(format string, args ...any) error { return &deniedError{fmt.Sprintf(format, args...)} }

// internalError is a failure of the log, or the end of the turn. It fails the step; a call
// is not denied because of it.
type internalError struct{ err error }

func (e *internalError) Error() string { return e.err.Error() }

// Authorize returns the calls that may run: the tool exists, the input is valid, the step
// may use tools, and the policy or the user allows it. Every other call gets its denial as
// a result. If the user denies a call without a message to the model, the turn ends.
func (s *Stepper) Authorize(ctx context.Context, t Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return nil, err
	}
	defer j.leave()
	var allowed []pawl.CallID
	for _, id := range ids {
		call := j.history.Call(id)
		if call.Finished {
			var stop *Stop
			if errors.As(earlierAnswerError(call), &stop) {
				return nil, stop // an earlier attempt was killed before it ended the turn
			}
			continue
		}
		err := s.authorizeCall(ctx, j, t, call)
		if err == nil {
			allowed = append(allowed, id)
			continue
		}
		var fault *internalError
		if errors.As(err, &fault) {
			return nil, fault.err
		}
		if err := s.reject(ctx, j, call, err); err != nil {
			return nil, err
		}
		var stop *Stop
		if errors.As(err, &stop) {
			return nil, stop
		}
	}
	return allowed, nil
}

// authorizeCall returns nil if a call may run, else why not. It asks the user if it must.
func (s *Stepper) authorizeCall(ctx context.Context, j *journal, t Turn, c *pawl.CallState) error {
	switch {
	case t.Last():
		return errors.New("not run: this was the last permitted step, and no tools were offered")
	case j.history.Open().Steps[t.Step-1].Finish != pawl.FinishToolUse:
		return errors.New("not run: the reply was cut off, so the call may be incomplete")
	}
	if err := earlierAnswerError(c); err != nil {
		return err // the user has denied it, whatever the policy is now
	}
	p, err := s.planCall(ctx, j, t, c)
	if err != nil || p.startedBefore {
		return err
	}
	if p, err = s.runToolBeforeHooks(ctx, j, t, c, p); err != nil {
		return err
	}
	subject, verdict, err := p.decide(j)
	asks := verdict.Decision == permission.Ask || verdict.Decision == permission.Review
	if err == nil && asks && c.Permission == nil && !p.policy.Absent {
		verdict, err = s.runPermissionAskHooks(ctx, j, p, verdict)
	}
	switch {
	case err != nil:
		return err
	case verdict.Decision == permission.Allow && c.Permission == nil:
		return nil
	case verdict.Decision == permission.Review && c.Permission == nil:
		return nil // the user is asked about its changes
	case verdict.Decision == permission.Allow, asks:
		if subject.Change, err = previewOf(ctx, p); err != nil {
			return err // the call would fail anyway
		}
		return s.askPermission(ctx, j, p, subject, verdict) // an open permission prompt is waited for, whatever the policy is now
	case p.call.Mode == string(permission.ModePlan):
		return denied("not permitted: %s. Finish the plan; plan_exit asks to begin.", verdict.Why)
	default:
		return denied("not permitted: %s. Do not try to get around it: do without, or say what you would need it for.", verdict.Why)
	}
}

// decide returns the verdict of the policy on a call, as the hooks changed it.
func (p plannedCall) decide(j *journal) (permission.Call, permission.Verdict, error) {
	subject, err := p.subject()
	if err != nil {
		return subject, permission.Verdict{}, err
	}
	r, _ := j.hookRuling(p.started.Call)
	return subject, r.apply(permission.Decide(p.policy, subject)), nil
}

// stillAllowed returns a call that was authorized if it may still run, else why not: the
// policy must still allow it, or it must be exactly what the user allowed. A call whose
// changes need approval is returned with a Review.
func (s *Stepper) stillAllowed(j *journal, p plannedCall, c *pawl.CallState) (plannedCall, error) {
	subject, verdict, err := p.decide(j)
	asks := verdict.Decision == permission.Ask || verdict.Decision == permission.Review
	switch {
	case err != nil:
		return p, err
	case verdict.Decision == permission.Allow:
		p.call.Confirm = s.confirmation(j, p, subject, verdict)
		return p, nil
	case asks && c.Permission != nil && c.Permission.Answer != nil && c.Permission.Answer.Outcome == pawl.OutcomeAnswered:
		if err := answererError(c.Permission); err != nil {
			return p, err
		}
		return p, p.sameAsAsked(c, subject)
	case verdict.Decision == permission.Review && c.Permission == nil:
		p.call.Review = func(ctx context.Context, changes toolapi.Changes) error {
			return s.askReview(ctx, j, p, subject, verdict, changes)
		}
		return p, nil
	default:
		return p, denied("not permitted any more: %s", verdict.Why)
	}
}

// policy returns the current policy for the calls of the open turn, with the rules of its
// agent.
func (s *Stepper) policy(ctx context.Context, j *journal) (permission.Policy, error) {
	p, def, err := s.basePolicy(ctx, j, j.actors()...)
	if err == nil {
		p.Rules = append(p.Rules, def.restrictions(s.Tools.Names())...)
	}
	return p, err
}

// basePolicy returns the current policy of the session without the rules of its agent,
// and that agent. Without an Authority, if the policy cannot be read, or if one of those
// who asked for the work may not have it done in this mode, it denies everything.
func (s *Stepper) basePolicy(ctx context.Context, j *journal, by ...pawl.Actor) (permission.Policy, Definition, error) {
	if s.Authority == nil {
		return permission.Policy{}, Definition{}, denied("not permitted: no policy is configured")
	}
	settings := j.settings()
	def, err := j.agent(settings.Agent)
	if err != nil {
		return permission.Policy{}, def, denied("not permitted: %v", err)
	}
	if def.Plan {
		settings.Mode = string(permission.ModePlan)
	}
	dir := j.history.Created().Dir
	p, err := s.Authority.Policy(ctx, j.id, dir, settings)
	if err != nil {
		return p, def, denied("not permitted: the policy cannot be read: %v", err)
	}
	if err := access.Authorize(dir, pawl.Settings{Mode: string(p.Mode), Trusted: settings.Trusted}, by...); err != nil {
		return p, def, denied("not permitted: %v", err)
	}
	return p, def, nil
}

// reject writes the result of a call that may not run, and cancels its open permission
// prompt.
func (s *Stepper) reject(ctx context.Context, j *journal, c *pawl.CallState, why error) error {
	return s.finishCall(ctx, j, s.rejection(ctx, j, c, why))
}

// rejection returns the result of a call that may not run. A call that an earlier process
// started, with a tool that this one does not have, gets an interruptedResult: it did run.
func (s *Stepper) rejection(ctx context.Context, j *journal, c *pawl.CallState, why error) pawl.CallFinished {
	if c.Started != nil {
		return s.interruptedResult(ctx, j, *c.Started)
	}
	f := pawl.CallFinished{Call: c.Call.ID, Status: pawl.CallRefused, Result: toolapi.ErrorResult(why.Error())}
	var no *deniedError
	var stop *Stop
	if errors.As(why, &no) || errors.As(why, &stop) {
		f.Status = pawl.CallDenied
	}
	return f
}
