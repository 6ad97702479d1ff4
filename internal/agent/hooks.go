package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Hooks says which hooks there are.
type Hooks interface {
	// Hooks returns the hooks for sessions in a directory as they are now, and what is
	// wrong with those that are left out. After an error none can be trusted to have
	// run, and so nothing may run that one of them might have refused.
	Hooks(ctx context.Context, dir string, s pawl.Settings) (*hook.Registry, []hook.Fault, error)
}

// fromHook is the source of what hooks put into the conversation.
const fromHook = "hook"

// place is where something happens that hooks are run for.
type place struct {
	id, parent pawl.SessionID
	dir        string
	turn       int
	settings   pawl.Settings
}

// place is the session's, with these settings.
func (j *journal) place(settings pawl.Settings, turn int) place {
	created := j.history.Created() // never changes
	return place{id: j.id, parent: created.Parent, dir: created.Dir, turn: turn, settings: settings}
}

// runHooks runs the hooks of an event's point, and tells the person what they say.
// With settings of a prompt that no turn has taken in yet, those count.
func (s *Stepper) runHooks(ctx context.Context, j *journal, settings pawl.Settings, e hook.Event) (hook.Outcome, error) {
	return s.fire(ctx, j.place(settings, e.Turn), e, func(n hook.Notice) { s.notice(j, e.Turn, n.Text) })
}

// fire runs the hooks of an event's point, and shows what they have to say to the
// person.
func (s *Stepper) fire(ctx context.Context, at place, e hook.Event, show func(hook.Notice)) (hook.Outcome, error) {
	if s.Hooks == nil {
		return hook.Outcome{}, nil
	}
	registry, _, err := s.Hooks.Hooks(ctx, at.dir, at.settings)
	if err != nil {
		return hook.Outcome{}, fmt.Errorf("it cannot be told which hooks there are: %w", err)
	}
	if len(registry.Hooks(e.Point)) == 0 {
		return hook.Outcome{}, nil
	}
	e.Session, e.Parent, e.Dir, e.Turn = at.id, at.parent, at.dir, at.turn
	e.Agent, e.Mode = cmp.Or(at.settings.Agent, Default), at.settings.Mode
	if s.Authority != nil {
		if p, err := s.Authority.Policy(ctx, at.id, at.dir, at.settings); err == nil {
			e.Mode = string(p.Mode)
		}
	}
	return hook.AgentUI{Registry: registry, Show: show}.Run(ctx, e)
}

// notice tells whoever listens something that is in no log.
func (s *Stepper) notice(j *journal, turn int, text string) {
	j.publish(turn, pawl.Status{State: "notice", Message: s.Redact.Redact(text)})
}

// stopOf is the end of a turn that a hook wants.
func stopOf(o hook.Outcome) error {
	return &pawl.Stop{Reason: pawl.ReasonPermissionDenied, Message: fmt.Sprintf("the hook %s ended the turn: %s", o.By, o.StopReason)}
}

// injected is what hooks have to say to the model, for the log.
func (s *Stepper) injected(texts ...string) []pawl.Body {
	var bodies []pawl.Body
	for _, text := range texts {
		bodies = append(bodies, pawl.Injected{Source: fromHook, Text: s.said(text)})
	}
	return bodies
}

// said is a text of a hook as the model and the log may have it.
func (s *Stepper) said(text string) string { return s.Redact.Redact(sanitize.Unhidden(text)) }

// hookFault is an error that hooks could not be run, unless it is that the step
// has ended.
func hookFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &pawl.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()}
}

// heed runs the hooks of chat.message for a prompt that waits. Prompts of a subagent
// are no person's, and not looked at.
func (s *Stepper) heed(ctx context.Context, j *journal, w pawl.Waiting) (hook.Outcome, error) {
	if j.history.Created().Parent != "" {
		return hook.Outcome{}, nil
	}
	event := hook.Event{Point: hook.ChatMessage, Parts: w.Prompt.Parts, Turn: j.history.Turns() + 1, Steers: j.history.Open() != nil}
	return s.runHooks(ctx, j, w.Prompt.Settings, event)
}

// withheld stands in the conversation for a prompt that a hook has refused.
const withheld = "(A prompt of the user's was refused by a hook, and is withheld.)"

// start begins a turn with a prompt that waits. If a hook refuses the prompt, the
// turn has ended as it began, and its words are kept from the model. One that is
// canceled while hooks look at it is taken back. If the prompt has changed
// meanwhile, nothing is done.
func (s *Stepper) start(ctx context.Context, j *journal, w pawl.Waiting) error {
	waiting, done := s.interruptible(ctx, j, w.Seq)
	bodies, err := s.opening(waiting, j, w)
	done()
	switch {
	case errors.Is(err, errGivenUp) && ctx.Err() == nil:
		bodies = []pawl.Body{pawl.Withdrawn{Prompt: w.Seq}}
	case err != nil:
		return err
	}
	j.mu.Lock()
	j.rulings, j.stopped = nil, nil
	j.mu.Unlock()
	_, err = j.appendIf(ctx, j.waitsAs(w), bodies...)
	return err
}

// opening is what begins a turn.
func (s *Stepper) opening(ctx context.Context, j *journal, w pawl.Waiting) ([]pawl.Body, error) {
	begin := []pawl.Body{pawl.TurnStarted{Prompt: w.Seq}}
	err := s.welcome(ctx, j, w.Prompt.Settings)
	var o hook.Outcome
	if err == nil {
		if o, err = s.heed(ctx, j, w); err != nil {
			err = hookFault(ctx, err)
		}
	}
	var stop *pawl.Stop
	switch {
	case errors.As(err, &stop):
		return append(begin, pawl.TurnFinished{Reason: stop.Reason, Fault: stop.Fault, Message: stop.Message}), nil
	case err != nil:
		return nil, err
	case o.Block || o.Stop:
		why := fmt.Sprintf("the hook %s refused the prompt: %s", o.By, o.Reason)
		return []pawl.Body{
			pawl.Reworded{Prompt: w.Seq, Parts: pawl.Parts{pawl.Text{Text: withheld}}}, begin[0],
			pawl.TurnFinished{Reason: pawl.ReasonPermissionDenied, Message: s.said(why)},
		}, nil
	case o.Parts != nil:
		begin = append([]pawl.Body{pawl.Reworded{Prompt: w.Seq, Parts: o.Parts}}, begin...)
	}
	return slices.Concat(begin, s.afterthoughts(j), s.injected(o.Context...)), nil
}

// waitsAs returns whether the prompt waits with the same words, at the time it is
// called.
func (j *journal) waitsAs(w pawl.Waiting) func() bool {
	return func() bool {
		return slices.ContainsFunc(j.history.Waiting(), func(now pawl.Waiting) bool {
			return now.Seq == w.Seq && reflect.DeepEqual(now.Prompt.Parts, w.Prompt.Parts)
		})
	}
}

// steered is what takes in a prompt that steers. One that a hook refuses is taken
// back, and the person is told why.
func (s *Stepper) steered(ctx context.Context, j *journal, w pawl.Waiting) ([]pawl.Body, error) {
	o, err := s.heed(ctx, j, w)
	switch {
	case err != nil:
		return nil, hookFault(ctx, err)
	case o.Block || o.Stop:
		return []pawl.Body{pawl.Withdrawn{Prompt: w.Seq}}, nil
	}
	var bodies []pawl.Body
	if o.Parts != nil {
		bodies = append(bodies, pawl.Reworded{Prompt: w.Seq, Parts: o.Parts})
	}
	bodies = append(bodies, pawl.Injected{Source: "user", Prompt: w.Seq})
	return append(bodies, s.injected(o.Context...)...), nil
}

// kept lets hooks keep the turn going that would end now. The log has why, so
// that a step that is taken again goes on too.
func (s *Stepper) kept(ctx context.Context, j *journal, t pawl.Turn) (bool, error) {
	open := j.history.Open()
	finish := open.Steps[t.Step-1].Reply.Finish
	if s.Hooks == nil || t.Last() || finish != pawl.FinishEndTurn {
		return false, nil
	}
	point := hook.AssistantDone
	if j.history.Created().Parent != "" {
		point = hook.SubagentStop
	}
	messages := j.history.Messages()
	o, err := s.runHooks(ctx, j, open.Settings, hook.Event{
		Point: point, Turn: t.Number, Reply: messages[len(messages)-1].Text(), Finish: finish, Reason: finish.Reason(), StopBlocks: open.Kept,
	})
	switch {
	case err != nil:
		return false, hookFault(ctx, err)
	case !o.Continue || o.Injection == "":
		return false, nil
	}
	_, err = j.append(ctx, s.injected(strings.Join(append(o.Context, o.Injection), "\n\n"))...) // one event: they are counted
	return true, err
}
