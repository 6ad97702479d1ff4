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

// hookRuling is what the tool.before and permission.ask hooks decided about a call. It is
// kept in memory for the turn; a process that resumes the turn runs the hooks again.
type hookRuling struct {
	input    json.RawMessage // replaces the model's; nil leaves it
	decision hook.Decision   // proposed
	why      string          // the hooks' reasons, for the permission prompt
	context  []string        // for the model
}

// callEvent returns a call as hooks see it.
func (p plannedCall) callEvent(point hook.Point) hook.Event {
	return hook.Event{Point: point, Turn: p.call.Turn, Call: p.started.Call, Tool: p.started.Tool, Input: p.call.Input, Access: p.access}
}

// accessWith returns what the call would access with another input, as permissions see it.
func (p plannedCall) accessWith(ctx context.Context, input json.RawMessage) (_ []pawl.Access, err error) {
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

// toolBeforeEvent returns the tool.before event of a call, with everything that the
// built-in guards need.
func (s *Stepper) toolBeforeEvent(ctx context.Context, j *journal, p plannedCall) (hook.Event, error) {
	e := p.callEvent(hook.ToolBefore)
	subject, err := p.subject()
	if err != nil {
		return e, err
	}
	def, err := j.agent(j.settings().Agent)
	if err != nil {
		return e, err
	}
	budgets, err := s.budgets(ctx, j)
	if err != nil {
		return e, &internalError{err}
	}
	e.Access, e.Touches, e.Role = subject.Access, p.accessWith, def.role()
	for _, b := range budgets {
		e.Used = append(e.Used, b.resource())
	}
	return e, nil
}

// role returns what the role guard enforces for the agent; nil means nothing.
func (d Definition) role() *hook.Role {
	if d.Tools == nil {
		return nil
	}
	return &hook.Role{Tools: d.Tools, Anywhere: !d.ReadOnly}
}

// resource returns a budget as hooks see it.
func (b budget) resource() hook.Resource {
	return hook.Resource{
		Name: b.what, Used: int64(b.used), Warn: int64(warnAt * b.limit), Max: int64(b.limit),
		Show: func(n int64) string { return b.show(float64(n)) },
	}
}

// FindRepetition is a built-in hook: it finds a reply that would end the turn and repeats
// itself. The loop guard finds repetition in earlier steps.
func FindRepetition(e hook.Event) hook.Finding {
	var d loops.Detector
	if e.Point != hook.AssistantDone || d.Reply(1, e.Reply).Kind == loops.None {
		return hook.Finding{}
	}
	return hook.Finding{Word: "The reply that would end this turn repeats itself. End the turn with a short one that states the result."}
}

// runToolBeforeHooks runs the tool.before hooks of a call, once, and returns the call as
// they changed it. With a changed input it is planned again, so that its tool checks it.
func (s *Stepper) runToolBeforeHooks(ctx context.Context, j *journal, t Turn, c *pawl.CallState, p plannedCall) (plannedCall, error) {
	if s.Hooks == nil || p.startedBefore {
		return p, nil
	}
	if _, known := j.hookRuling(p.started.Call); known {
		return p, nil
	}
	event, err := s.toolBeforeEvent(ctx, j, p)
	if err != nil {
		return p, err
	}
	o, err := s.runHooks(ctx, j, j.settings(), event)
	switch {
	case ctx.Err() != nil:
		return p, &internalError{context.Cause(ctx)}
	case err != nil:
		return p, denied("not run: %v", err)
	case o.Stop:
		return p, hookStop(o)
	case o.Block:
		return p, denied("refused by the hook %s: %s", o.By, s.sanitizeHookText(o.Reason))
	}
	j.setHookRuling(p.started.Call, hookRuling{input: o.Input, decision: o.Decision, why: strings.Join(o.Messages, "; "), context: o.Context})
	if o.Input == nil {
		return p, nil
	}
	changed, err := s.planCall(ctx, j, t, c)
	if err != nil {
		return changed, fmt.Errorf("not run: a hook changed the input to %.200s, and that cannot be: %w", o.Input, err)
	}
	return changed, nil
}

// hookRuling returns what hooks decided about a call, if this process has run them.
func (j *journal) hookRuling(id pawl.CallID) (hookRuling, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, known := j.rulings[id]
	return r, known
}

func (j *journal) setHookRuling(id pawl.CallID, r hookRuling) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.rulings == nil {
		j.rulings = map[pawl.CallID]hookRuling{}
	}
	j.rulings[id] = r
}

// inputOf returns the input that a call runs with: the one it started with, the one from
// hooks, or the model's. changed reports whether it is not the model's.
func (j *journal) inputOf(c *pawl.CallState) (input json.RawMessage, changed bool) {
	if c.Started != nil {
		if c.Started.Input != nil {
			return c.Started.Input, true
		}
		return c.Call.Input, false
	}
	if r, _ := j.hookRuling(c.Call.ID); r.input != nil {
		return r.input, true
	}
	return c.Call.Input, false
}

// apply returns the verdict with the hooks' proposal. Hooks can tighten it; they can
// allow only what a user could allow permanently.
func (r hookRuling) apply(v permission.Verdict) permission.Verdict {
	before := hook.Decision(v.Decision)
	if v.Decision == permission.Review {
		before = hook.Ask // hooks know no other question
	}
	decided := hook.Ruling{Decision: before, Firm: v.Offer == nil}.With(r.decision)
	if decided == before && (before == hook.Decision(v.Decision) || r.decision != hook.Ask) {
		return v
	}
	v.Decision = permission.Decision(decided)
	if decided == hook.Ask {
		v.Why, v.Offer = "a hook asks for your permission", nil
		if r.why != "" {
			v.Why += ": " + r.why
		}
	}
	return v
}

// runPermissionAskHooks runs the permission.ask hooks before the user is asked about a
// call. They can deny it, or allow it in the user's place.
func (s *Stepper) runPermissionAskHooks(ctx context.Context, j *journal, p plannedCall, v permission.Verdict) (permission.Verdict, error) {
	settings := j.settings()
	event := p.callEvent(hook.PermissionAsk)
	event.Message = v.Why
	o, err := s.runHooks(ctx, j, settings, event)
	switch {
	case ctx.Err() != nil:
		return v, &internalError{context.Cause(ctx)}
	case err != nil:
		return v, denied("not run: %v", err)
	case o.Stop:
		return v, hookStop(o)
	case o.Block:
		return v, denied("refused by the hook %s: %s", o.By, s.sanitizeHookText(o.Reason))
	}
	if after := (hookRuling{decision: o.Decision}).apply(v); after.Decision == permission.Allow {
		r, _ := j.hookRuling(p.started.Call)
		if r.decision != hook.Ask {
			r.decision = hook.Allow
			j.setHookRuling(p.started.Call, r)
			return after, nil
		}
	}
	return v, nil
}

// maxInputNote bounds the changed input that the model is shown, in bytes.
const maxInputNote = 4 << 10

// runToolAfterHooks runs the tool.after hooks of a call and returns the result with their
// texts for the model.
func (s *Stepper) runToolAfterHooks(ctx context.Context, j *journal, p plannedCall, r pawl.Result) pawl.Result {
	if s.Hooks == nil {
		return r
	}
	var notes []string
	before, _ := j.hookRuling(p.started.Call)
	if p.started.Input != nil {
		ran := strings.ToValidUTF8(string(p.started.Input[:min(len(p.started.Input), maxInputNote)]), "")
		notes = append(notes, "the input of this call was changed; it ran with "+ran)
	}
	notes = append(notes, before.context...)
	event := p.callEvent(hook.ToolAfter)
	event.Result = r
	o, err := s.runHooks(ctx, j, j.settings(), event)
	if err != nil && ctx.Err() == nil {
		notes = append(notes, "what hooks say of this call is not known: "+err.Error())
	}
	if o.Stop {
		j.mu.Lock()
		j.stopped = hookStop(o)
		j.mu.Unlock()
	}
	if o.Result != nil {
		r = *o.Result
	}
	for _, note := range append(notes, o.Context...) {
		r.Content = strings.TrimLeft(r.Content+"\n\n[hook] "+s.sanitizeHookText(note), "\n")
	}
	return r
}

// stoppedByHook returns the end of the turn that a hook asked for after a call of the
// step, or nil.
func (j *journal) stoppedByHook() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stopped
}
