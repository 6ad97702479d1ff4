package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/permission"
	"github.com/pawl-dev/pawl/internal/plain"
)

// Hooks says which hooks there are.
type Hooks interface {
	// Hooks returns the hooks for sessions in a folder as they are now, and what is
	// wrong with those that are left out. After an error none can be trusted to have
	// run, and so nothing may run that one of them might have refused.
	Hooks(ctx context.Context, dir string, s pawl.Settings) (*hook.Registry, []hook.Fault, error)
}

// fromHook is the source of what hooks put into the conversation.
const fromHook = "hook"

// ruling is what hooks have made of a call. It is remembered while the turn is
// worked on by this process; another one asks the hooks again.
type ruling struct {
	input    json.RawMessage // in place of the model's; nil leaves it
	decision hook.Decision   // proposed
	why      string          // in their words, for the person who is asked
	context  []string        // for the model
}

// runHooks runs the hooks of an event's point, and tells the person what they say.
// With settings of a prompt that no turn has taken in yet, those count.
func (s *Stepper) runHooks(ctx context.Context, j *journal, settings pawl.Settings, e hook.Event) (hook.Outcome, error) {
	if s.Hooks == nil {
		return hook.Outcome{}, nil
	}
	created := j.history.Created() // never changes
	registry, _, err := s.Hooks.Hooks(ctx, created.Dir, settings)
	if err != nil {
		return hook.Outcome{}, fmt.Errorf("it cannot be told which hooks there are: %w", err)
	}
	if len(registry.Hooks(e.Point)) == 0 {
		return hook.Outcome{}, nil
	}
	e.Session, e.Parent, e.Dir = j.id, created.Parent, created.Dir
	e.Agent, e.Mode = settings.Agent, settings.Mode
	if e.Agent == "" {
		e.Agent = Default
	}
	if s.Authority != nil {
		if p, err := s.Authority.Policy(ctx, j.id, created.Dir, settings); err == nil {
			e.Mode = string(p.Mode)
		}
	}
	o, err := registry.Run(ctx, e)
	if err != nil {
		return o, err // it was canceled, which whoever did it knows
	}
	told := o
	if e.Point == hook.ChatMessage && j.history.Open() == nil {
		told.Block, told.Stop = false, false // the end of the turn tells it
	}
	for _, n := range hook.Notices(e, told) {
		s.notice(j, e.Turn, n.Text)
	}
	return o, nil
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
func (s *Stepper) said(text string) string { return s.Redact.Redact(plain.Unhidden(text)) }

// welcome runs the hooks of session.start the first time that this process works
// on the session, and returns what they have to say to the model.
func (s *Stepper) welcome(ctx context.Context, j *journal, settings pawl.Settings) ([]pawl.Body, error) {
	s.mu.Lock()
	known := s.welcomed[j.id]
	s.welcomed[j.id] = true
	s.mu.Unlock()
	if s.Hooks == nil || known || j.history.Created().Parent != "" {
		return nil, nil
	}
	_, faults, err := s.Hooks.Hooks(ctx, j.history.Created().Dir, settings)
	if err == nil {
		for _, f := range faults {
			s.notice(j, j.history.Turns(), f.String())
		}
	}
	source := "startup"
	if j.history.Turns() > 0 {
		source = "resume"
	}
	o, err := s.runHooks(ctx, j, settings, hook.Event{Point: hook.SessionStart, Source: source, Turn: j.history.Turns()})
	if err != nil {
		return nil, hookFault(ctx, err)
	}
	return s.injected(o.Context...), nil
}

// hookFault is an error that hooks could not be run, unless it is that the step
// has ended.
func hookFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &pawl.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()}
}

// heed runs the hooks of chat.message for a prompt that waits. Prompts of a child
// are no person's, and not looked at.
func (s *Stepper) heed(ctx context.Context, j *journal, w pawl.Waiting) (hook.Outcome, error) {
	if j.history.Created().Parent != "" {
		return hook.Outcome{}, nil
	}
	return s.runHooks(ctx, j, w.Prompt.Settings, hook.Event{Point: hook.ChatMessage, Parts: w.Prompt.Parts, Turn: j.history.Turns() + 1})
}

// withheld stands in the conversation for a prompt that a hook has refused.
const withheld = "(A prompt of the user's was refused by a hook, and is withheld.)"

// start begins a turn with a prompt that waits. If a hook refuses the prompt, the
// turn has ended as it began, and its words are kept from the model. If the prompt
// has changed meanwhile, nothing is done.
func (s *Stepper) start(ctx context.Context, j *journal, w pawl.Waiting) error {
	bodies, err := s.opening(ctx, j, w)
	if err != nil {
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
	context, err := s.welcome(ctx, j, w.Prompt.Settings)
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
	return slices.Concat(begin, context, s.injected(o.Context...)), nil
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

// callEvent is a call as hooks see it.
func (p plannedCall) callEvent(point hook.Point) hook.Event {
	return hook.Event{Point: point, Turn: p.call.Turn, Call: p.started.Call, Tool: p.started.Tool, Input: p.call.Input, Access: p.access}
}

// guard runs the hooks before a call, once, and returns the call as they have
// changed it: with another input it is another call, which its tool checks anew.
func (s *Stepper) guard(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState, p plannedCall) (plannedCall, error) {
	if s.Hooks == nil || p.again {
		return p, nil
	}
	if _, known := j.ruling(p.started.Call); known {
		return p, nil
	}
	event := p.callEvent(hook.ToolBefore)
	subject, err := p.subject()
	if err != nil {
		return p, err
	}
	event.Access = subject.Access
	o, err := s.runHooks(ctx, j, host{j}.settings(), event)
	switch {
	case ctx.Err() != nil:
		return p, &machineryError{context.Cause(ctx)}
	case err != nil:
		return p, denied("not run: %v", err)
	case o.Stop:
		return p, stopOf(o)
	case o.Block:
		return p, denied("refused by the hook %s: %s", o.By, s.said(o.Reason))
	}
	j.rule(p.started.Call, ruling{input: o.Input, decision: o.Decision, why: strings.Join(o.Messages, "; "), context: o.Context})
	if o.Input == nil {
		return p, nil
	}
	changed, err := s.plan(ctx, j, t, c)
	if err != nil {
		return changed, fmt.Errorf("not run: a hook changed the input to %.200s, and that cannot be: %w", o.Input, err)
	}
	return changed, nil
}

// ruling is what hooks have made of a call, if this process has asked them.
func (j *journal) ruling(id pawl.CallID) (ruling, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, known := j.rulings[id]
	return r, known
}

func (j *journal) rule(id pawl.CallID, r ruling) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.rulings == nil {
		j.rulings = map[pawl.CallID]ruling{}
	}
	j.rulings[id] = r
}

// inputOf is what a call runs with: what it began with, what hooks have made of
// it, or what the model wrote.
func (j *journal) inputOf(c *pawl.CallState) (input json.RawMessage, changed bool) {
	if c.Started != nil {
		if c.Started.Input != nil {
			return c.Started.Input, true
		}
		return c.Call.Input, false
	}
	if r, _ := j.ruling(c.Call.ID); r.input != nil {
		return r.input, true
	}
	return c.Call.Input, false
}

// with is the verdict once hooks have proposed something. They can tighten it;
// only what a person could permit for good can they permit in their place.
func (r ruling) with(v permission.Verdict) permission.Verdict {
	decided := hook.Ruling{Decision: hook.Decision(v.Decision), Firm: v.Offer == nil}.With(r.decision)
	if decided == hook.Decision(v.Decision) {
		return v
	}
	v.Decision = permission.Decision(decided)
	if decided == hook.Ask {
		v.Why, v.Offer = "a hook wants you to be asked", nil
		if r.why != "" {
			v.Why += ": " + r.why
		}
	}
	return v
}

// beforeAsk runs the hooks before a person is asked whether a call may run. They
// can refuse it, or permit it in the person's place.
func (s *Stepper) beforeAsk(ctx context.Context, j *journal, p plannedCall, v permission.Verdict) (permission.Verdict, error) {
	settings := host{j}.settings()
	event := p.callEvent(hook.PermissionAsk)
	event.Message = v.Why
	o, err := s.runHooks(ctx, j, settings, event)
	switch {
	case ctx.Err() != nil:
		return v, &machineryError{context.Cause(ctx)}
	case err != nil:
		return v, denied("not run: %v", err)
	case o.Stop:
		return v, stopOf(o)
	case o.Block:
		return v, denied("refused by the hook %s: %s", o.By, s.said(o.Reason))
	}
	if after := (ruling{decision: o.Decision}).with(v); after.Decision == permission.Allow {
		r, _ := j.ruling(p.started.Call)
		if r.decision != hook.Ask {
			r.decision = hook.Allow
			j.rule(p.started.Call, r)
			return after, nil
		}
	}
	if settings.Absent {
		return v, nil
	}
	_, err = s.runHooks(ctx, j, settings, hook.Event{Point: hook.Notification, Turn: p.call.Turn, Source: "permission_prompt", Message: fmt.Sprintf("pawl asks whether %s may run", p.started.Tool)})
	if ctx.Err() != nil {
		return v, &machineryError{context.Cause(ctx)}
	}
	return v, err
}

// maxInputNote bounds what the model is told of a changed input.
const maxInputNote = 4 << 10

// afterCall runs the hooks after a call, and returns the result with what they
// have to say.
func (s *Stepper) afterCall(ctx context.Context, j *journal, p plannedCall, r pawl.Result) pawl.Result {
	if s.Hooks == nil {
		return r
	}
	var notes []string
	before, _ := j.ruling(p.started.Call)
	if p.started.Input != nil {
		ran := strings.ToValidUTF8(string(p.started.Input[:min(len(p.started.Input), maxInputNote)]), "")
		notes = append(notes, "the input of this call was changed; it ran with "+ran)
	}
	notes = append(notes, before.context...)
	event := p.callEvent(hook.ToolAfter)
	event.Result = r
	o, err := s.runHooks(ctx, j, host{j}.settings(), event)
	if err != nil && ctx.Err() == nil {
		notes = append(notes, "what hooks say of this call is not known: "+err.Error())
	}
	if o.Stop {
		j.mu.Lock()
		j.stopped = stopOf(o)
		j.mu.Unlock()
	}
	if o.Result != nil {
		r = *o.Result
	}
	for _, note := range append(notes, o.Context...) {
		r.Content = strings.TrimLeft(r.Content+"\n\n[hook] "+s.said(note), "\n")
	}
	return r
}

// endedByHook is the end that a hook wanted after a call of the step, or nil.
func (j *journal) endedByHook() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stopped
}

// beforeCompaction runs the hooks before the conversation is made smaller. What
// they say joins what a person has ordered.
func (s *Stepper) beforeCompaction(ctx context.Context, j *journal, settings pawl.Settings, c compaction) string {
	trigger := "auto"
	if c.asked != 0 {
		trigger = "manual"
	}
	o, err := s.runHooks(ctx, j, settings, hook.Event{Point: hook.CompactionBefore, Turn: j.history.Turns(), Trigger: trigger, Instructions: c.instructions})
	if err != nil {
		return c.instructions // nothing is refused by a hook here
	}
	texts := []string{c.instructions}
	for _, text := range o.Context {
		texts = append(texts, s.said(text))
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
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
