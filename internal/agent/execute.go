package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool"
)

// maxParallel bounds the read-only calls of one reply that run at once.
const maxParallel = 8

// plannedCall is a call that may run, with its tool and what it would touch.
type plannedCall struct {
	started pawl.CallStarted
	tool    pawl.Tool
	call    pawl.Call
	again   bool // an earlier attempt began it
}

// Authorize returns the calls that may run: the tool exists, the input fits,
// and this step may use tools. Every other call gets its refusal as a result.
func (s *Stepper) Authorize(ctx context.Context, t pawl.Turn, ids []pawl.CallID) ([]pawl.CallID, error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return nil, err
	}
	defer j.leave()
	var permitted []pawl.CallID
	var refusals []pawl.Body
	for _, id := range ids {
		call := j.history.Call(id)
		if call.Finished {
			continue
		}
		if err := s.permit(ctx, j, t, call); err != nil {
			refusals = append(refusals, refusal(call, err))
			continue
		}
		permitted = append(permitted, id)
	}
	if len(refusals) > 0 {
		if _, err := j.append(ctx, refusals...); err != nil {
			return nil, err
		}
	}
	return permitted, nil
}

// refusal is the result of a call that may not run. One that an earlier pawl
// began, with a tool that this one has not got, was run and must not seem refused.
func refusal(c *pawl.CallState, why error) pawl.CallFinished {
	if c.Started != nil {
		return unknownOutcome(c.Call.ID)
	}
	return pawl.CallFinished{Call: c.Call.ID, Status: pawl.CallRefused, Result: pawl.ErrorResult(why.Error())}
}

// permit returns why a call may not run, or nil.
func (s *Stepper) permit(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState) error {
	switch {
	case t.Last():
		return errors.New("not run: this was the last permitted step, and no tools were offered")
	case j.history.Open().Steps[t.Step-1].Reply.Finish != pawl.FinishToolUse:
		return errors.New("not run: the reply was cut off, so the call may be incomplete")
	}
	p, err := s.plan(ctx, j, t, c)
	if err == nil && j.history.Open().Settings.Mode == "plan" && !p.started.ReadOnly {
		return errors.New("not run: in plan mode nothing is changed. Finish the plan; plan_exit asks to begin")
	}
	return err
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
	call := pawl.Call{
		Session: j.id, Turn: t.Number, ID: c.Call.ID, Input: c.Call.Input, Dir: j.history.Created().Dir,
		Progress: func(text string) { j.publish(t.Number, pawl.Progress{Call: c.Call.ID, Text: text}) },
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
	return plannedCall{started: started, tool: tool, call: call, again: c.Started != nil}, nil
}

// Execute runs the calls in order; read-only ones that stand together run
// beside each other. Each is in the log before it begins and after it ends. A
// call that an earlier attempt began runs again only if it just reads: nobody
// knows how far any other got.
func (s *Stepper) Execute(ctx context.Context, t pawl.Turn, ids []pawl.CallID) error {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return err
	}
	defer j.leave()
	var plans []plannedCall
	for _, id := range ids {
		c := j.history.Call(id)
		if c.Finished {
			continue
		}
		p, err := s.plan(ctx, j, t, c)
		if err != nil { // it was permitted by a pawl that knew other tools
			if _, err := j.append(ctx, refusal(c, err)); err != nil {
				return err
			}
			continue
		}
		plans = append(plans, p)
	}
	for len(plans) > 0 {
		n := 1
		for plans[0].started.ReadOnly && n < len(plans) && n < maxParallel && plans[n].started.ReadOnly {
			n++
		}
		if err := s.executeTogether(ctx, j, plans[:n]); err != nil {
			return err
		}
		plans = plans[n:]
	}
	return nil
}

func (s *Stepper) executeTogether(ctx context.Context, j *journal, plans []plannedCall) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	var starts []pawl.Body
	for _, p := range plans {
		if !p.again {
			starts = append(starts, p.started)
		}
	}
	if len(starts) > 0 {
		if _, err := j.append(ctx, starts...); err != nil {
			return err
		}
	}
	errs := make([]error, len(plans))
	var wg sync.WaitGroup
	for i, p := range plans {
		wg.Go(func() {
			finished := unknownOutcome(p.started.Call)
			if !p.again || p.started.ReadOnly {
				finished = s.execute(ctx, p)
			}
			if finished.Status == pawl.CallCanceled && takenAway(ctx) != nil {
				return // as after a crash: whoever goes on with the turn decides what this call was
			}
			// The effect has happened: its result is kept even if the turn is canceled right now.
			_, errs[i] = j.append(context.WithoutCancel(ctx), finished)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// execute runs one call. Whatever happens, it has a result.
func (s *Stepper) execute(ctx context.Context, p plannedCall) pawl.CallFinished {
	f := pawl.CallFinished{Call: p.started.Call, Status: pawl.CallDone}
	result, err := run(ctx, p)
	switch {
	case err != nil && ctx.Err() != nil:
		f.Status = pawl.CallCanceled
		result.IsError = true
		result.Content = strings.TrimLeft(result.Content+"\n(canceled)", "\n")
	case err != nil:
		result = pawl.ErrorResult(err.Error())
	}
	f.Result = s.spill(ctx, p, result)
	return f
}

// run runs the tool. A panic in it is an error like any other.
func run(ctx context.Context, p plannedCall) (r pawl.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(p.started.Tool, v)
		}
	}()
	return p.tool.Run(ctx, p.call)
}

func panicked(tool string, v any) error {
	return fmt.Errorf("the tool %s failed: %v\n%s", tool, v, debug.Stack())
}

// spill moves a content that is too large for the log beside it, and leaves
// its head and tail with a word on how to read the rest. Some tools have done it.
func (s *Stepper) spill(ctx context.Context, p plannedCall, r pawl.Result) pawl.Result {
	limit := tool.ContentBytes(p.started.Tool)
	if len(r.Content) <= limit || r.Spill != nil {
		return r
	}
	// What the tool did is kept even if the turn is canceled right now.
	r.Content, r.Spill = tool.Spill(context.WithoutCancel(ctx), s.Store, p.call.Session, strings.NewReader(r.Content), limit)
	return r
}
