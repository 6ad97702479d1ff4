package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/loops"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// ruling is what hooks have made of a call. It is remembered while the turn is
// worked on by this process; another one asks the hooks again.
type ruling struct {
	input    json.RawMessage // in place of the model's; nil leaves it
	decision hook.Decision   // proposed
	why      string          // in their words, for the person who is asked
	context  []string        // for the model
}

// callEvent is a call as hooks see it.
func (p plannedCall) callEvent(point hook.Point) hook.Event {
	return hook.Event{Point: point, Turn: p.call.Turn, Call: p.started.Call, Tool: p.started.Tool, Input: p.call.Input, Access: p.access}
}

// touches is what the call would touch with another input, as permissions know it.
func (p plannedCall) touches(ctx context.Context, input json.RawMessage) (_ []pawl.Access, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(p.started.Tool, v)
		}
	}()
	p.call.Input = input
	if p.access, err = p.tool.Access(ctx, p.call); err != nil {
		return nil, err
	}
	subject, err := p.subject()
	return subject.Access, err
}

// beforeEvent is a call that is about to be judged, with all that guards go by.
func (s *Stepper) beforeEvent(ctx context.Context, j *journal, p plannedCall) (hook.Event, error) {
	e := p.callEvent(hook.ToolBefore)
	subject, err := p.subject()
	if err != nil {
		return e, err
	}
	def, err := j.agent(host{j}.settings().Agent)
	if err != nil {
		return e, err
	}
	bounds, err := s.bounds(ctx, j)
	if err != nil {
		return e, &machineryError{err}
	}
	e.Access, e.Touches, e.Role = subject.Access, p.touches, def.role()
	for _, b := range bounds {
		e.Used = append(e.Used, b.resource())
	}
	return e, nil
}

// role is what the guard of roles holds the agent to; nil means nothing.
func (d Definition) role() *hook.Role {
	if d.Tools == nil {
		return nil
	}
	return &hook.Role{Tools: d.Tools, Anywhere: !d.Looks}
}

// resource is a budget as hooks know it.
func (b bound) resource() hook.Resource {
	return hook.Resource{
		Name: b.what, Used: int64(b.used), Warn: int64(warnAt * b.limit), Max: int64(b.limit),
		Show: func(n int64) string { return b.show(float64(n)) },
	}
}

// Sane looks whether a turn would end with a reply that says the same over and
// over. What goes round in circles before that, the loop itself notices.
func Sane(e hook.Event) hook.Finding {
	var d loops.Detector
	if e.Point != hook.AssistantDone || d.Reply(1, e.Reply).Kind == loops.None {
		return hook.Finding{}
	}
	return hook.Finding{Word: "The reply that would end this turn repeats itself. End the turn with a short one that says what came of it."}
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
	event, err := s.beforeEvent(ctx, j, p)
	if err != nil {
		return p, err
	}
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
	return v, nil
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
