package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/weak"
)

// permit returns why a call may not run, or nil. It asks a person if it has to.
func (s *Stepper) permit(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState) error {
	switch {
	case t.Last():
		return errors.New("not run: this was the last permitted step, and no tools were offered")
	case j.history.Open().Steps[t.Step-1].Reply.Finish != pawl.FinishToolUse:
		return errors.New("not run: the reply was cut off, so the call may be incomplete")
	}
	if err := answerOf(c); err != nil {
		return err // whatever holds by now: a person has said no
	}
	p, err := s.plan(ctx, j, t, c)
	if err != nil || p.again {
		return err
	}
	if p, err = s.guard(ctx, j, t, c, p); err != nil {
		return err
	}
	subject, verdict, err := p.judge(j)
	if err == nil && verdict.Decision == permission.Ask && c.Permission == nil {
		verdict, err = s.beforeAsk(ctx, j, p, verdict)
	}
	switch {
	case err != nil:
		return err
	case verdict.Decision == permission.Allow && c.Permission == nil:
		return nil
	case verdict.Decision == permission.Allow, verdict.Decision == permission.Ask:
		if subject.Change, err = previewOf(ctx, p); err != nil {
			return err // it could not be made anyway
		}
		return s.askPermission(ctx, j, p, subject, verdict) // one that is asked already is waited for, whatever holds by now
	case p.call.Mode == string(permission.ModePlan):
		return denied("not permitted: %s. Finish the plan; plan_exit asks to begin.", verdict.Why)
	default:
		return denied("not permitted: %s. Do not try to get around it: do without, or say what you would need it for.", verdict.Why)
	}
}

// judge says what the policy makes of a call, and then the hooks.
func (p plannedCall) judge(j *journal) (permission.Call, permission.Verdict, error) {
	subject, err := p.subject()
	if err != nil {
		return subject, permission.Verdict{}, err
	}
	r, _ := j.ruling(p.started.Call)
	return subject, r.with(permission.Decide(p.policy, subject)), nil
}

// policy is what holds for the calls of the open turn now.
func (s *Stepper) policy(ctx context.Context, j *journal) (permission.Policy, error) {
	p, def, err := s.basePolicy(ctx, j)
	if err == nil {
		p.Rules = append(p.Rules, def.narrowing(s.Tools.Names())...)
	}
	return p, err
}

// basePolicy is what holds in the session now, whoever acts, and its agent. Without
// an authority, as for a policy that cannot be read, nothing may run.
func (s *Stepper) basePolicy(ctx context.Context, j *journal) (permission.Policy, Definition, error) {
	if s.Authority == nil {
		return permission.Policy{}, Definition{}, denied("not permitted: nobody has said what may run here")
	}
	settings := host{j}.settings()
	def, err := j.agent(settings.Agent)
	if err != nil {
		return permission.Policy{}, def, denied("not permitted: %v", err)
	}
	if def.Plan && !weak.On("agent.rules") {
		settings.Mode = string(permission.ModePlan)
	}
	p, err := s.Authority.Policy(ctx, j.id, j.history.Created().Dir, settings)
	if err != nil {
		return p, def, denied("not permitted: what may run here cannot be told: %v", err)
	}
	return p, def, nil
}

// maxPreview bounds the diff that a person is asked to look at.
const maxPreview = 1 << 20

// previewOf is what the call would change.
func previewOf(ctx context.Context, p plannedCall) (diff string, err error) {
	if p.tool.Preview == nil {
		return "", nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = panicked(p.started.Tool, v)
		}
	}()
	if diff, err = p.tool.Preview(ctx, p.call); err == nil && len(diff) > maxPreview {
		err = fmt.Errorf("not run: its diff has %d bytes, too many to be put to the user: make it in smaller parts", len(diff))
	}
	return diff, err
}

// askPermission puts a call to a person, and returns nil if they permit it.
func (s *Stepper) askPermission(ctx context.Context, j *journal, p plannedCall, subject permission.Call, v permission.Verdict) error {
	ask := pawl.Ask{
		Kind: pawl.AskPermission, Text: permission.Show(subject, v), Names: p.names(subject),
		Timeout: host{j}.settings().AskTimeout,
	}
	for _, rule := range v.Offer {
		text, err := json.Marshal(rule)
		if err != nil {
			return err
		}
		ask.Offer = append(ask.Offer, text)
	}
	answer, err := host{j}.ask(ctx, p.started.Call, ask)
	if err != nil {
		return &machineryError{err}
	}
	if err := heard(p.started.Tool, answer); err != nil {
		return err
	}
	if err := p.stillNames(j.history.Call(p.started.Call), subject); err != nil {
		return err // it is another call than the one that an earlier attempt asked for
	}
	if len(answer.Always) > 0 {
		if err := s.Authority.Grant(ctx, p.call.Dir, answer.Always); err != nil {
			return denied("not permitted: what was granted could not be kept: %v", err)
		}
	}
	return nil
}

// answerOf is heard for what a person has answered before, if they have.
func answerOf(c *pawl.CallState) error {
	if c.Permission == nil || c.Permission.Answer == nil {
		return nil
	}
	return heard(c.Call.Name, *c.Permission.Answer)
}

// heard says what an answer makes of a call: nil lets it run. A word to the model
// is its result; no word ends the turn.
func heard(tool string, a pawl.Answer) error {
	switch {
	case a.Outcome == pawl.OutcomeAnswered:
		return nil
	case a.Outcome == pawl.OutcomeAbsent:
		return denied("not permitted: nobody is there to be asked")
	case a.Outcome == pawl.OutcomeCanceled:
		return &machineryError{&pawl.Stop{Reason: pawl.ReasonCanceled}}
	case a.Outcome == pawl.OutcomeTimeout:
		return &pawl.Stop{Reason: pawl.ReasonPermissionDenied, Message: fmt.Sprintf("nobody said in time whether %s may run", tool)}
	case a.Outcome == pawl.OutcomeDeclined && strings.TrimSpace(a.Text) != "":
		return denied("the user declined, and says: %s", a.Text)
	default:
		return &pawl.Stop{Reason: pawl.ReasonPermissionDenied, Message: fmt.Sprintf("%s was declined", tool)}
	}
}

// stillPermitted says why a call that was permitted may not run after all, or
// nil: it must still be what the policy allows, or the very thing that a person
// has seen.
func (p plannedCall) stillPermitted(j *journal, c *pawl.CallState) error {
	subject, verdict, err := p.judge(j)
	switch {
	case err != nil:
		return err
	case verdict.Decision == permission.Allow:
		return nil
	case verdict.Decision == permission.Ask && c.Permission != nil && c.Permission.Answer != nil && c.Permission.Answer.Outcome == pawl.OutcomeAnswered:
		return p.stillNames(c, subject)
	default:
		return denied("not permitted any more: %s", verdict.Why)
	}
}

// names is what a permission of the call is for: all that a person is shown of
// it, and whether its command runs in a sandbox.
func (p plannedCall) names(subject permission.Call) string {
	name := permission.Fingerprint(subject)
	runs := slices.ContainsFunc(subject.Access, func(a pawl.Access) bool { return a.Kind == pawl.AccessExec })
	if runs && !p.policy.Boxed {
		name += " unboxed"
	}
	return name
}

// stillNames says whether the call is the one that a person was shown.
func (p plannedCall) stillNames(c *pawl.CallState, subject permission.Call) error {
	if weak.On("ask.names") {
		return nil
	}
	if c.Permission == nil || c.Permission.Asked.Names != p.names(subject) {
		return denied("not run: what it would touch has changed since it was put to the user")
	}
	return nil
}
