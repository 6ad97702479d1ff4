package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/permission"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// Authority says what calls may do, and keeps what a person permits for good.
type Authority interface {
	// Policy is what holds now for the calls of a session in a folder.
	Policy(ctx context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error)
	// Grant keeps rules for a folder. One that is there already stays as it is.
	Grant(dir string, rules []json.RawMessage) error
}

// plannedCall is a call that may run, with its tool and what it would touch.
type plannedCall struct {
	started pawl.CallStarted
	tool    pawl.Tool
	call    pawl.Call
	again   bool   // an earlier attempt began it
	flush   func() // shows what is held back of its progress
}

// subject is the call as permissions know it: a path that leads elsewhere by
// links is named in both spellings.
func (p plannedCall) subject() (permission.Call, error) {
	c := permission.Call{Tool: p.started.Tool, Risk: p.tool.Risk, Input: p.call.Input}
	for _, a := range p.started.Access {
		c.Access = append(c.Access, a)
		if a.Kind != pawl.AccessRead && a.Kind != pawl.AccessWrite || filepath.IsAbs(a.Target) {
			continue
		}
		real, err := workspace.Real(p.call.Dir, a.Target)
		if err != nil {
			return c, fmt.Errorf("not run: it cannot be told where %s leads: %w", a.Target, err)
		}
		if real != filepath.Clean(a.Target) {
			c.Access = append(c.Access, pawl.Access{Kind: a.Kind, Target: real})
		}
	}
	return c, nil
}

// deniedError says why a call is not permitted.
type deniedError struct{ why string }

func (e *deniedError) Error() string { return e.why }

func denied(format string, args ...any) error { return &deniedError{fmt.Sprintf(format, args...)} }

// Authorize returns the calls that may run: the tool exists, the input fits,
// this step may use tools, and the policy or a person permits it. Every other
// call gets its refusal as a result. If a person declines without a word to the
// model, the turn ends.
func (s *Stepper) Authorize(ctx context.Context, t pawl.Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return nil, err
	}
	defer j.leave()
	var permitted []pawl.CallID
	for _, id := range ids {
		call := j.history.Call(id)
		if call.Finished {
			continue
		}
		err := s.permit(ctx, j, t, call)
		var fault *machineryError
		if errors.As(err, &fault) {
			return nil, fault.err
		}
		var stop *pawl.Stop
		if err == nil {
			permitted = append(permitted, id)
			continue
		}
		errors.As(err, &stop)
		if _, err := j.append(ctx, refusal(call, err)); err != nil {
			return nil, err
		}
		if stop != nil {
			return nil, stop
		}
	}
	return permitted, nil
}

// machineryError is a failure of the log, or the end of ctx: nothing that a call
// could be refused for.
type machineryError struct{ err error }

func (e *machineryError) Error() string { return e.err.Error() }

// refusal is the result of a call that may not run. One that an earlier pawl
// began, with a tool that this one has not got, was run and must not seem refused.
func refusal(c *pawl.CallState, why error) pawl.CallFinished {
	if c.Started != nil {
		return unknownOutcome(c.Call.ID)
	}
	f := pawl.CallFinished{Call: c.Call.ID, Status: pawl.CallRefused, Result: pawl.ErrorResult(why.Error())}
	var no *deniedError
	var stop *pawl.Stop
	if errors.As(why, &no) || errors.As(why, &stop) {
		f.Status = pawl.CallDenied
	}
	return f
}

// permit returns why a call may not run, or nil. It asks a person if it has to.
func (s *Stepper) permit(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState) error {
	switch {
	case t.Last():
		return errors.New("not run: this was the last permitted step, and no tools were offered")
	case j.history.Open().Steps[t.Step-1].Reply.Finish != pawl.FinishToolUse:
		return errors.New("not run: the reply was cut off, so the call may be incomplete")
	}
	p, err := s.plan(ctx, j, t, c)
	if err != nil || p.again {
		return err
	}
	subject, verdict, err := s.judge(ctx, j, p)
	switch {
	case err != nil:
		return err
	case verdict.Decision == permission.Allow:
		return nil
	case verdict.Decision == permission.Ask:
		if subject.Change, err = previewOf(ctx, p); err != nil {
			return err // it could not be made anyway
		}
		return s.askPermission(ctx, j, p, subject, verdict)
	default:
		if p.call.Mode == string(permission.ModePlan) {
			return denied("not permitted: %s. Finish the plan; plan_exit asks to begin.", verdict.Why)
		}
		return denied("not permitted: %s. Do not try to get around it: do without, or say what you would need it for.", verdict.Why)
	}
}

// judge says what the policy makes of a call now.
func (s *Stepper) judge(ctx context.Context, j *journal, p plannedCall) (permission.Call, permission.Verdict, error) {
	subject, err := p.subject()
	if err != nil {
		return subject, permission.Verdict{}, err
	}
	policy, err := s.policy(ctx, j)
	if err != nil {
		return subject, permission.Verdict{}, err
	}
	return subject, permission.Decide(policy, subject), nil
}

// policy is what holds for the open turn now. Without an authority, as for a
// policy that cannot be read, nothing may run.
func (s *Stepper) policy(ctx context.Context, j *journal) (permission.Policy, error) {
	if s.Authority == nil {
		return permission.Policy{}, denied("not permitted: nobody has said what may run here")
	}
	p, err := s.Authority.Policy(ctx, j.id, j.history.Created().Dir, host{j}.settings())
	if err != nil {
		return p, denied("not permitted: what may run here cannot be told: %v", err)
	}
	return p, nil
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
		Kind: pawl.AskPermission, Text: permission.Show(subject, v), Names: permission.Fingerprint(subject),
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
	if err := stillNames(j.history.Call(p.started.Call), subject); err != nil {
		return err // it is another call than the one that an earlier attempt asked for
	}
	switch answer.Outcome {
	case pawl.OutcomeAnswered:
		if len(answer.Always) > 0 {
			if err := s.Authority.Grant(p.call.Dir, answer.Always); err != nil {
				return denied("not permitted: what was granted could not be kept: %v", err)
			}
		}
		return nil
	case pawl.OutcomeAbsent:
		return denied("not permitted: nobody is there to be asked: %s", v.Why)
	case pawl.OutcomeTimeout:
		return &pawl.Stop{Reason: pawl.ReasonPermissionDenied, Message: "nobody answered in time: " + v.Why}
	default:
	}
	if answer.Text != "" {
		return denied("the user declined, and says: %s", answer.Text)
	}
	return &pawl.Stop{Reason: pawl.ReasonPermissionDenied, Message: "declined: " + v.Why}
}

// stillPermitted says why a call that was permitted may not run after all, or
// nil: it must still be what the policy allows, or the very thing that a person
// has seen.
func (s *Stepper) stillPermitted(ctx context.Context, j *journal, p plannedCall, c *pawl.CallState) error {
	subject, verdict, err := s.judge(ctx, j, p)
	switch {
	case err != nil:
		return err
	case verdict.Decision == permission.Allow:
		return nil
	case verdict.Decision == permission.Ask && c.Permission != nil && c.Permission.Answer != nil && c.Permission.Answer.Outcome == pawl.OutcomeAnswered:
		return stillNames(c, subject)
	default:
		return denied("not permitted any more: %s", verdict.Why)
	}
}

// stillNames says whether the call is the one that a person was shown.
func stillNames(c *pawl.CallState, subject permission.Call) error {
	if c.Permission == nil || c.Permission.Asked.Names != permission.Fingerprint(subject) {
		return denied("not run: what it would touch has changed since it was put to the user")
	}
	return nil
}

// plan finds the call's tool and asks it what the call would touch.
func (s *Stepper) plan(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState) (p plannedCall, err error) {
	tools, err := s.toolsOf(j)
	if err != nil {
		return p, err
	}
	tool, ok := tools.Tool(c.Call.Name)
	if !ok {
		return p, fmt.Errorf("there is no tool %q; there are: %s", c.Call.Name, strings.Join(tools.Names(), ", "))
	}
	policy, err := s.policy(ctx, j)
	if err != nil {
		return p, err
	}
	show, flush := s.Redact.Progress(func(text string) { j.publish(t.Number, pawl.Progress{Call: c.Call.ID, Text: text}) })
	call := pawl.Call{
		Session: j.id, Turn: t.Number, ID: c.Call.ID, Input: c.Call.Input, Dir: j.history.Created().Dir,
		Mode:     string(policy.Mode),
		Reads:    readable(policy, c.Call.Name),
		Progress: show,
		Host:     host{j},
	}
	defer func() {
		if v := recover(); v != nil {
			err = panicked(c.Call.Name, v)
		}
	}()
	access, err := tool.Access(ctx, call)
	if err != nil {
		return p, err
	}
	started := pawl.CallStarted{Call: c.Call.ID, Tool: c.Call.Name, Access: access, ReadOnly: pawl.ReadOnly(access)}
	if c.Started != nil {
		started = *c.Started // what it began as counts
	}
	return plannedCall{started: started, tool: tool, call: call, again: c.Started != nil, flush: flush}, nil
}

// readable returns whether a file may be read without asking, for a call that
// looks into many.
func readable(policy permission.Policy, tool string) func(path string) bool {
	return func(path string) bool {
		real, err := workspace.Real(policy.Dir, path)
		if err != nil {
			return false
		}
		accesses := []pawl.Access{{Kind: pawl.AccessRead, Target: path}, {Kind: pawl.AccessRead, Target: real}}
		return permission.Decide(policy, permission.Call{Tool: tool, Risk: pawl.RiskSafe, Access: accesses}).Decision == permission.Allow
	}
}
