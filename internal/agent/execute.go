package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/weak"
)

// maxParallel bounds the read-only calls of one reply that run at once.
const maxParallel = 8

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
	for len(ids) > 0 {
		var together []plannedCall
		if together, ids, err = s.next(ctx, j, t, ids); err != nil {
			return err
		}
		if len(together) == 0 {
			continue
		}
		if err := s.executeTogether(ctx, j, together); err != nil {
			return err
		}
	}
	return nil
}

// next returns the calls that run next, together, and those that come after. It
// looks at each anew: what the calls before it did, or somebody else, may have
// made it another than the one that was permitted.
func (s *Stepper) next(ctx context.Context, j *journal, t pawl.Turn, ids []pawl.CallID) (together []plannedCall, rest []pawl.CallID, err error) {
	for i, id := range ids {
		if len(together) > 0 && (!together[0].started.ReadOnly || together[0].tool.Alone || len(together) == maxParallel) {
			return together, ids[i:], nil
		}
		c := j.history.Call(id)
		if c.Finished {
			continue
		}
		p, err := s.plan(ctx, j, t, c)
		if err == nil {
			p, err = s.guard(ctx, j, t, c, p) // if another process has permitted it
		}
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err == nil && (!p.started.ReadOnly || p.tool.Alone) && len(together) > 0 {
			return together, ids[i:], nil
		}
		if err == nil && !p.started.ReadOnly {
			if p, err = s.secure(ctx, j, t, c, p); ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
		}
		if err == nil && (!p.again || p.started.ReadOnly) { // any other that was begun is not run again
			err = p.stillPermitted(j, c)
		}
		if err != nil {
			if err := s.refuse(ctx, j, c, err); err != nil {
				return nil, nil, err
			}
			continue
		}
		together = append(together, p)
	}
	return together, nil, nil
}

// secure keeps the workspace as it is before a call that may change it. That may
// take a while, so the call is looked at anew.
func (s *Stepper) secure(ctx context.Context, j *journal, t pawl.Turn, c *pawl.CallState, p plannedCall) (plannedCall, error) {
	if p.again || s.Snapshots == nil || j.ofTeam() { // what a worker does is undone by not merging it
		return p, nil
	}
	id, unsafe := s.take(ctx, j)
	p, err := s.plan(ctx, j, t, c)
	if !p.started.ReadOnly {
		p.started.Snapshot, p.started.Unsafe = id, unsafe
	}
	return p, err
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
			finished, err := s.outcome(ctx, j, p)
			if err != nil {
				errs[i] = err
				return
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
	return j.endedByHook()
}

// outcome is what came of a call, which is run unless an earlier attempt began it.
// An error means that it has none yet: it waits for a person, or what it did could
// not be kept.
func (s *Stepper) outcome(ctx context.Context, j *journal, p plannedCall) (f pawl.CallFinished, err error) {
	if p.again && !p.started.ReadOnly {
		f = s.unknown(ctx, j, p.started)
		return f, s.keep(ctx, j, p)
	}
	if f, err = s.execute(ctx, j, p); err != nil {
		return f, err
	}
	s.nearby(j, p, &f)
	if f.Status == pawl.CallCanceled && takenAway(ctx) != nil {
		return f, nil
	}
	f.Snapshot = s.takeAfter(ctx, j, p.started)
	return f, s.keep(ctx, j, p)
}

// keep has the directory kept after a call that may have changed it. That is part of
// the call: it goes on for a while when the turn is canceled.
func (s *Stepper) keep(ctx context.Context, j *journal, p plannedCall) error {
	if s.Keep == nil || p.started.ReadOnly {
		return nil
	}
	ctx, end := lasting(ctx, keepGrace)
	defer end()
	return s.Keep(ctx, j.id, p.call.Dir)
}

// keepGrace bounds how long a canceled call's directory is kept.
const keepGrace = 30 * time.Second

// execute runs one call. Whatever happens, it has a result, unless it waits for a
// person.
func (s *Stepper) execute(ctx context.Context, j *journal, p plannedCall) (pawl.CallFinished, error) {
	f := pawl.CallFinished{Call: p.started.Call, Status: pawl.CallDone}
	result, err := run(ctx, p)
	p.flush()
	var parked *Parked
	switch {
	case errors.As(err, &parked):
		return f, parked
	case err != nil && ctx.Err() != nil:
		f.Status = pawl.CallCanceled
		result.IsError = true
		result.Content = strings.TrimLeft(result.Content+"\n(canceled)", "\n")
	case err != nil:
		result = pawl.ErrorResult(err.Error())
	}
	result = s.sanitizeResult(result)
	if f.Status == pawl.CallDone {
		result = s.afterCall(ctx, j, p, result)
	}
	f.Result = s.truncateResult(ctx, p, result)
	return f, nil
}

// shown is a result as the model and the log may have it: nothing in it is
// hidden from people, and secrets are masked.
func (s *Stepper) sanitizeResult(r pawl.Result) pawl.Result {
	if !weak.On("plain.tags") {
		r.Content = sanitize.Unhidden(r.Content)
	}
	return s.Redact.Result(r)
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
func (s *Stepper) truncateResult(ctx context.Context, p plannedCall, r pawl.Result) pawl.Result {
	limit := tool.ContentBytes(p.started.Tool)
	if len(r.Content) <= limit || r.Spill != nil {
		return r
	}
	// What the tool did is kept even if the turn is canceled right now.
	r.Content, r.Spill = tool.Spill(context.WithoutCancel(ctx), s.Store, p.call.Session, strings.NewReader(r.Content), limit)
	return r
}
