package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// shellTool is the tool that runs the user's shell commands, as it does the agent's.
const shellTool = "bash"

// shell runs a shell command of the user and logs its result. A command that an earlier
// attempt started is not run again: its outcome is unknown.
func (s *Stepper) shell(ctx context.Context, j *journal, o pawl.Order, b pawl.ShellAsked) error {
	ctx, done := s.interruptibleShell(ctx, j.id, o.Seq)
	defer done()
	f, err := s.shellOutcome(ctx, j, o, b)
	if err != nil {
		return err
	}
	// The command has run: its result must be logged even if it is canceled right now.
	_, err = j.append(context.WithoutCancel(ctx), pawl.ShellRan{Asked: o.Seq, Status: f.Status, Result: f.Result, Snapshot: f.Snapshot, DirSnapshots: f.DirSnapshots})
	return err
}

// shellOutcome runs a shell command of the user and returns its result. After an error the
// order stays open, for whoever resumes the session.
func (s *Stepper) shellOutcome(ctx context.Context, j *journal, o pawl.Order, b pawl.ShellAsked) (pawl.CallFinished, error) {
	err := s.loadProject(ctx, j)
	if o.Started != nil {
		return s.interruptedResult(ctx, j, pawl.CallStarted{Call: o.Seq.ShellCall(), Snapshot: o.Started.Snapshot, DirSnapshots: o.Started.DirSnapshots}), nil
	}
	taken := s.takeSnapshots(ctx, j)
	started := pawl.ShellStarted{Asked: o.Seq, Snapshot: taken.workspace, DirSnapshots: taken.dirs, Unsafe: taken.unsafe}
	// The snapshot may take a while, so only now check whether the command may run.
	var p plannedCall
	if err == nil {
		p, err = s.planShell(ctx, j, o.Seq, b)
	}
	if lost := lostSession(ctx); lost != nil {
		return pawl.CallFinished{}, lost
	}
	if ctx.Err() != nil {
		return pawl.CallFinished{Status: pawl.CallCanceled, Result: toolapi.ErrorResult("not run: canceled")}, nil
	}
	if err != nil {
		return s.rejection(ctx, j, &pawl.CallState{Call: pawl.ToolCall{ID: o.Seq.ShellCall()}}, err), nil
	}
	if _, err := j.append(ctx, started); err != nil {
		return pawl.CallFinished{}, err
	}
	p.started.Snapshot, p.started.DirSnapshots = started.Snapshot, started.DirSnapshots
	f, err := s.runOrResume(ctx, j, p)
	if err != nil {
		return f, err
	}
	if lost := lostSession(ctx); lost != nil && f.Status == pawl.CallCanceled {
		return f, lost // as after a crash
	}
	return f, nil
}

// planShell plans a shell command of the user like a call of the agent, and returns an error
// if it may not run. The command is its own permission: what the policy would ask about is
// allowed. What rules or hooks deny stays denied.
func (s *Stepper) planShell(ctx context.Context, j *journal, order pawl.Seq, b pawl.ShellAsked) (p plannedCall, err error) {
	bash, ok := s.Tools.Tool(shellTool)
	if !ok {
		return p, errors.New("not run: no commands can be run here")
	}
	input, err := json.Marshal(map[string]any{"command": b.Command, "timeout": int(tool.BashMaxTimeout.Seconds())})
	if err != nil {
		return p, err
	}
	if p.policy, _, err = s.basePolicy(ctx, j, b.By); err != nil {
		return p, err
	}
	if !p.policy.Sandboxed {
		if err := access.AuthorizeEscape(b.By); err != nil {
			return p, denied("not permitted: there is no sandbox, and %v", err)
		}
	}
	id, turn := order.ShellCall(), j.history.Turns()
	p.call = toolapi.Call{
		Session: j.id, Turn: turn, ID: id, Input: input, Dir: j.history.Created().Dir, Dirs: p.policy.Dirs,
		Mode: string(p.policy.Mode), Sandboxed: p.policy.Sandboxed, Reads: readable(p.policy, shellTool), Caller: toolSession{s, j},
	}
	p.call.Progress, p.flush = s.Redact.Progress(func(text string) { j.publish(turn, pawl.Progress{Call: id, Text: text}) })
	p.call.Notice = func(text string) { s.notice(j, turn, text) }
	p.tool = bash
	if p.access, err = bash.Access(ctx, p.call); err != nil {
		return p, err
	}
	p.started = pawl.CallStarted{Call: id, Tool: shellTool, Access: p.access}
	return p, s.shellAllowed(ctx, j, p)
}

// shellAllowed returns nil if a shell command of the user may run, else why not.
func (s *Stepper) shellAllowed(ctx context.Context, j *journal, p plannedCall) error {
	subject, err := p.subject()
	if err != nil {
		return err
	}
	policy := p.policy
	policy.Mode, policy.Absent = permission.ModeAsk, false // the user is there, and wants it
	if v := permission.Decide(policy, subject); v.Decision == permission.Deny {
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
