package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// Authority says what calls may do, and keeps what a person permits for good.
type Authority interface {
	// Policy is what holds now for the calls of a session in a directory.
	Policy(ctx context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error)
	// Grant keeps rules for a directory. One that is there already stays as it is.
	Grant(ctx context.Context, dir string, rules []json.RawMessage) error
}

// plannedCall is a call with its tool, what it would touch now, and what holds
// for it.
type plannedCall struct {
	started pawl.CallStarted // as the log has it, or will have it
	tool    pawl.Tool
	call    pawl.Call
	access  []pawl.Access
	policy  permission.Policy
	again   bool   // an earlier attempt began it
	flush   func() // shows what is held back of its progress
}

// subject is the call as permissions know it: a path that leads elsewhere by
// links is named in both spellings.
func (p plannedCall) subject() (permission.Call, error) {
	c := permission.Call{Tool: p.started.Tool, Risk: p.tool.Risk, Input: p.call.Input}
	for _, a := range p.access {
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
			var stop *pawl.Stop
			if errors.As(answerOf(call), &stop) {
				return nil, stop // an earlier attempt did not live to end the turn
			}
			continue
		}
		err := s.permit(ctx, j, t, call)
		if err == nil {
			permitted = append(permitted, id)
			continue
		}
		var fault *machineryError
		if errors.As(err, &fault) {
			return nil, fault.err
		}
		if err := s.refuse(ctx, j, call, err); err != nil {
			return nil, err
		}
		var stop *pawl.Stop
		if errors.As(err, &stop) {
			return nil, stop
		}
	}
	return permitted, nil
}

// machineryError is a failure of the log, or the end of the turn: nothing that a
// call could be refused for.
type machineryError struct{ err error }

func (e *machineryError) Error() string { return e.err.Error() }

// refuse gives a call that may not run its result. If a person is still asked
// about it, nobody needs to answer any more.
func (s *Stepper) refuse(ctx context.Context, j *journal, c *pawl.CallState, why error) error {
	finished := s.refusal(ctx, j, c, why)
	if a := c.Permission; a != nil {
		open := func() bool { return a.Answer == nil }
		stored, err := j.appendIf(ctx, open, pawl.Answered{Ask: a.Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeCanceled}}, finished)
		if err != nil || len(stored) > 0 {
			return err
		}
	}
	_, err := j.append(ctx, finished)
	return err
}

// refusal is the result of a call that may not run. One that an earlier pawl
// began, with a tool that this one has not got, was run and must not seem refused.
func (s *Stepper) refusal(ctx context.Context, j *journal, c *pawl.CallState, why error) pawl.CallFinished {
	if c.Started != nil {
		return s.unknown(ctx, j, *c.Started)
	}
	f := pawl.CallFinished{Call: c.Call.ID, Status: pawl.CallRefused, Result: pawl.ErrorResult(why.Error())}
	var no *deniedError
	var stop *pawl.Stop
	if errors.As(why, &no) || errors.As(why, &stop) {
		f.Status = pawl.CallDenied
	}
	return f
}

// plan finds the call's tool and asks it what the call would touch.
func (s *Stepper) plan(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState) (p plannedCall, err error) {
	tool, input, changed, err := s.meant(ctx, j, c)
	if err != nil {
		return p, err
	}
	policy, err := s.policy(ctx, j)
	if err != nil {
		return p, err
	}
	show, flush := s.Redact.Progress(func(text string) { j.publish(t.Number, pawl.Progress{Call: c.Call.ID, Text: text}) })
	call := pawl.Call{
		Session: j.id, Turn: t.Number, ID: c.Call.ID, Input: input, Dir: j.history.Created().Dir,
		Mode:     string(policy.Mode),
		Boxed:    policy.Boxed,
		Reads:    readable(policy, tool.Name),
		Progress: show,
		Host:     host{j},
	}
	if s.Buffers != nil && !j.ofTeam() { // a worker's directory is another
		call.Buffers = s.Buffers(j.front())
	}
	defer func() {
		if v := recover(); v != nil {
			err = panicked(tool.Name, v)
		}
	}()
	access, err := tool.Access(ctx, call)
	if err != nil {
		return p, err
	}
	started := pawl.CallStarted{Call: c.Call.ID, Tool: tool.Name, Access: access, ReadOnly: pawl.ReadOnly(access)}
	if changed {
		started.Input = input
	}
	if c.Started != nil {
		started = *c.Started // what it began as counts
	}
	return plannedCall{started: started, tool: tool, call: call, access: access, policy: policy, again: c.Started != nil, flush: flush}, nil
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
