package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Hooks finds the hooks of sessions.
type Hooks interface {
	// Hooks returns the current hooks for sessions in a directory, and the faults of
	// those that are left out. After an error, nothing may run that a hook might have
	// blocked.
	Hooks(ctx context.Context, dir string, s pawl.Settings) (*hook.Registry, []hook.Fault, error)
}

// fromHook is the source of texts that hooks add to the conversation.
const fromHook = "hook"

// hookContext is what hooks learn about the session they run for.
type hookContext struct {
	id, parent pawl.SessionID
	dir        string
	turn       int
	settings   pawl.Settings
}

// hookContext returns the hookContext of the session, with these settings.
func (j *journal) hookContext(settings pawl.Settings, turn int) hookContext {
	created := j.history.Created() // never changes
	return hookContext{id: j.id, parent: created.Parent, dir: created.Dir, turn: turn, settings: settings}
}

// runHooks runs the hooks of an event's point and shows their messages to the user.
// settings are those of the open turn, or of the prompt that is about to start one.
func (s *Stepper) runHooks(ctx context.Context, j *journal, settings pawl.Settings, e hook.Event) (hook.Outcome, error) {
	return s.runHooksIn(ctx, j.hookContext(settings, e.Turn), e, func(n hook.Notice) { s.notice(j, e.Turn, n.Text) })
}

// runHooksIn is runHooks without a journal; show receives the messages for the user.
func (s *Stepper) runHooksIn(ctx context.Context, c hookContext, e hook.Event, show func(hook.Notice)) (hook.Outcome, error) {
	if s.Hooks == nil {
		return hook.Outcome{}, nil
	}
	registry, _, err := s.Hooks.Hooks(ctx, c.dir, c.settings)
	if err != nil {
		return hook.Outcome{}, fmt.Errorf("load hooks: %w", err)
	}
	if len(registry.Hooks(e.Point)) == 0 {
		return hook.Outcome{}, nil
	}
	e.Session, e.Parent, e.Dir, e.Turn = c.id, c.parent, c.dir, c.turn
	e.Agent, e.Mode = cmp.Or(c.settings.Agent, Default), c.settings.Mode
	if s.Authority != nil {
		if p, err := s.Authority.Policy(ctx, c.id, c.dir, c.settings); err == nil {
			e.Mode = string(p.Mode)
		}
	}
	return hook.AgentUI{Registry: registry, Show: show}.Run(ctx, e)
}

// notice shows a message to current listeners without storing it.
func (s *Stepper) notice(j *journal, turn int, text string) {
	j.publish(turn, pawl.Status{State: "notice", Message: s.Redact.Redact(text)})
}

// hookStop returns the end of the turn that a hook asked for.
func hookStop(o hook.Outcome) error {
	return &Stop{Reason: pawl.ReasonPermissionDenied, Message: fmt.Sprintf("hook %s ended the turn: %s", o.By, o.StopReason)}
}

// injections returns the events that show texts of hooks to the model.
func (s *Stepper) injections(texts ...string) []pawl.Body {
	var bodies []pawl.Body
	for _, text := range texts {
		bodies = append(bodies, pawl.Injected{Source: fromHook, Text: s.sanitizeHookText(text)})
	}
	return bodies
}

// takeHookTexts returns the events that show the model what hooks said since its last step.
func (s *Stepper) takeHookTexts(j *journal) []pawl.Body {
	return s.injections(s.sessions.takeHookTexts(j.id)...)
}

// sanitizeHookText strips invisible characters and masks secrets before a hook's text
// reaches the model or the log.
func (s *Stepper) sanitizeHookText(text string) string {
	return s.Redact.Redact(sanitize.Unhidden(text))
}

// hookFault returns the end of a turn whose hooks could not be run, or the cause of the
// end of ctx.
func hookFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()}
}

// errPromptCanceled is the cause when the user cancels a prompt that waits for hooks.
var errPromptCanceled = errors.New("canceled while hooks were running")

// hookNoticeDelay is how long a prompt waits for hooks before the user gets a notice.
const hookNoticeDelay = time.Second

// interruptibleHooks returns a context for running hooks on a prompt, which Interrupt can
// cancel. The caller must call done.
func (s *Stepper) interruptibleHooks(ctx context.Context, j *journal, prompt pawl.Seq) (_ context.Context, done func()) {
	if s.Hooks == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	turn := j.history.Turns()
	timer := time.AfterFunc(hookNoticeDelay, func() {
		s.notice(j, turn, "waiting for hooks before the turn starts: cancel to stop waiting and withdraw the prompt")
	})
	s.sessions.setPending(j.id, pendingWork{prompt, func() { cancel(errPromptCanceled) }})
	return ctx, func() {
		timer.Stop()
		s.sessions.clearPending(j.id)
		cancel(nil)
	}
}

// Interrupt cancels what the session does while no turn is open: a prompt that waits
// for hooks, which is withdrawn, or a running shell command of the user, if their Seq
// is at most upTo. Waiting shell commands up to there are not run either, until Forget.
func (s *Stepper) Interrupt(id pawl.SessionID, upTo pawl.Seq) {
	s.sessions.update(id, func(st *sessionState) {
		st.canceledUpTo = max(st.canceledUpTo, upTo)
		if st.pending != nil && st.pending.seq <= upTo {
			st.pending.cancel()
		}
	})
}
