package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/weak"
)

// shellTool is the tool that runs the person's commands, as it runs the agent's.
const shellTool = "bash"

// shell runs a command of the person's and writes its end. One that an earlier
// attempt began is not run again: nobody knows how far it got.
func (s *Stepper) shell(ctx context.Context, j *journal, o pawl.Order, b pawl.ShellAsked) error {
	ctx, done := s.interruptibleShell(ctx, j.id, o.Seq)
	defer done()
	f, err := s.shellOutcome(ctx, j, o, b)
	if err != nil {
		return err
	}
	// The effect has happened: its end is kept even if it is canceled right now.
	_, err = j.append(context.WithoutCancel(ctx), pawl.ShellRan{Asked: o.Seq, Status: f.Status, Result: f.Result, Snapshot: f.Snapshot})
	return err
}

// shellOutcome is what came of a command of the person's. An error means that the
// order stays, for whoever comes next.
func (s *Stepper) shellOutcome(ctx context.Context, j *journal, o pawl.Order, b pawl.ShellAsked) (pawl.CallFinished, error) {
	err := s.loadProject(ctx, j)
	if o.Started != nil {
		return s.interruptedResult(ctx, j, pawl.CallStarted{Call: pawl.ShellCall(o.Seq), Snapshot: o.Started.Snapshot}), nil
	}
	started := pawl.ShellStarted{Asked: o.Seq}
	started.Snapshot, started.Unsafe = s.takeSnapshot(ctx, j)
	// That may take a while, so it is looked only now whether it may run.
	var p plannedCall
	if err == nil {
		p, err = s.planShell(ctx, j, o.Seq, b.Command)
	}
	if gone := lostSession(ctx); gone != nil {
		return pawl.CallFinished{}, gone
	}
	if ctx.Err() != nil {
		return pawl.CallFinished{Status: pawl.CallCanceled, Result: toolapi.ErrorResult("not run: canceled")}, nil
	}
	if err != nil {
		return s.rejection(ctx, j, &pawl.CallState{Call: pawl.ToolCall{ID: pawl.ShellCall(o.Seq)}}, err), nil
	}
	if _, err := j.append(ctx, started); err != nil {
		return pawl.CallFinished{}, err
	}
	p.started.Snapshot = started.Snapshot
	f, err := s.runOrResume(ctx, j, p)
	if err != nil {
		return f, err
	}
	if gone := lostSession(ctx); gone != nil && f.Status == pawl.CallCanceled {
		return f, gone // as after a crash
	}
	return f, nil
}

// planShell makes of a command of the person's what a call of the agent's would
// be, and says why it may not run. Their word is their permission: what would be
// asked is allowed. What is denied stays so, by rules and by hooks.
func (s *Stepper) planShell(ctx context.Context, j *journal, asked pawl.Seq, command string) (p plannedCall, err error) {
	bash, ok := s.Tools.Tool(shellTool)
	if !ok {
		return p, errors.New("not run: no commands can be run here")
	}
	input, err := json.Marshal(map[string]any{"command": command, "timeout": int(tool.BashMaxTimeout.Seconds())})
	if err != nil {
		return p, err
	}
	if p.policy, _, err = s.basePolicy(ctx, j); err != nil {
		return p, err
	}
	id, turn := pawl.ShellCall(asked), j.history.Turns()
	p.call = toolapi.Call{
		Session: j.id, Turn: turn, ID: id, Input: input, Dir: j.history.Created().Dir,
		Mode: string(p.policy.Mode), Boxed: p.policy.Boxed, Reads: readable(p.policy, shellTool), Host: toolSession{s, j},
	}
	p.call.Progress, p.flush = s.Redact.Progress(func(text string) { j.publish(turn, pawl.Progress{Call: id, Text: text}) })
	p.tool = bash
	if p.access, err = bash.Access(ctx, p.call); err != nil {
		return p, err
	}
	p.started = pawl.CallStarted{Call: id, Tool: shellTool, Access: p.access}
	return p, s.shellPermitted(ctx, j, p)
}

// shellPermitted says why a command of the person's may not run, or nil.
func (s *Stepper) shellPermitted(ctx context.Context, j *journal, p plannedCall) error {
	subject, err := p.subject()
	if err != nil {
		return err
	}
	asked := p.policy
	asked.Mode, asked.Absent = permission.ModeAsk, false // the person is there, and has said yes
	if v := permission.Decide(asked, subject); v.Decision == permission.Deny && !weak.On("shell.rules") {
		return denied("not permitted: %s", v.Why)
	}
	event := p.callEvent(hook.ToolBefore)
	event.Access, event.Touches = subject.Access, p.accessWith
	o, err := s.runHooks(ctx, j, j.settings(), event)
	switch {
	case err != nil:
		return denied("not run: %v", err)
	case o.Stop, o.Block, o.Decision == hook.Deny:
		return denied("refused by the hook %s: %s", o.By, s.sanitizeHookText(o.Reason+o.StopReason))
	case o.Input != nil:
		return denied("not run: the hook %s would run another command: %.200s", o.By, o.Input)
	}
	return nil
}

// interruptibleShell returns a context for a shell command of the user, which Interrupt
// can cancel, or has canceled already. The caller must call done.
func (s *Stepper) interruptibleShell(ctx context.Context, id pawl.SessionID, order pawl.Seq) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	if s.sessions.setPending(id, pendingWork{order, cancel}) {
		cancel()
	}
	return ctx, func() {
		s.sessions.clearPending(id)
		cancel()
	}
}
