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
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// maxParallel bounds the read-only calls that run in parallel.
const maxParallel = 8

// Execute runs the calls in order; consecutive read-only calls run in parallel. Each call
// is logged before it starts and after it ends. A call that an earlier attempt started
// runs again only if it is read-only; the outcome of any other is unknown (see resume.go).
func (s *Stepper) Execute(ctx context.Context, t Turn, ids []pawl.CallID) error {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return err
	}
	defer j.leave()
	for len(ids) > 0 {
		var batch []plannedCall
		if batch, ids, err = s.nextCalls(ctx, j, t, ids); err != nil {
			return err
		}
		if len(batch) == 0 {
			continue
		}
		if err := s.executeParallel(ctx, j, batch); err != nil {
			return err
		}
	}
	return nil
}

// nextCalls returns the calls that run next, in parallel, and those after them. It plans
// each call again and checks that it is still allowed: earlier calls, or somebody else,
// may have changed what it would do since it was authorized.
func (s *Stepper) nextCalls(ctx context.Context, j *journal, t Turn, ids []pawl.CallID) (batch []plannedCall, rest []pawl.CallID, err error) {
	for i, id := range ids {
		if len(batch) > 0 && (!batch[0].started.ReadOnly || batch[0].tool.Alone || len(batch) == maxParallel) {
			return batch, ids[i:], nil
		}
		c := j.history.Call(id)
		if c.Finished {
			continue
		}
		p, err := s.planCall(ctx, j, t, c)
		if err == nil {
			p, err = s.runToolBeforeHooks(ctx, j, t, c, p) // if another process authorized it
		}
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err == nil && (!p.started.ReadOnly || p.tool.Alone) && len(batch) > 0 {
			return batch, ids[i:], nil
		}
		if err == nil && !p.started.ReadOnly {
			if p, err = s.snapshotBefore(ctx, j, t, c, p); ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
		}
		if err == nil && (!p.startedBefore || p.started.ReadOnly) { // other calls that started before do not run again
			p, err = s.stillAllowed(j, p, c)
		}
		if err != nil {
			if err := s.reject(ctx, j, c, err); err != nil {
				return nil, nil, err
			}
			continue
		}
		batch = append(batch, p)
	}
	return batch, nil, nil
}

// snapshotBefore takes a snapshot before a call that may change the workspace. That may
// take a while, so the call is planned again afterwards.
func (s *Stepper) snapshotBefore(ctx context.Context, j *journal, t Turn, c *pawl.CallState, p plannedCall) (plannedCall, error) {
	if p.startedBefore || s.Snapshots == nil || j.inMissionTeam() { // a worker is undone by not merging its worktree
		return p, nil
	}
	taken := s.takeSnapshots(ctx, j)
	p, err := s.planCall(ctx, j, t, c)
	if !p.started.ReadOnly {
		p.started.Snapshot, p.started.DirSnapshots, p.started.Unsafe = taken.workspace, taken.dirs, taken.unsafe
	}
	return p, err
}

func (s *Stepper) executeParallel(ctx context.Context, j *journal, plans []plannedCall) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	var starts []pawl.Body
	for _, p := range plans {
		if !p.startedBefore {
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
			finished, err := s.runOrResume(ctx, j, p)
			if err != nil {
				errs[i] = err
				return
			}
			if finished.Status == pawl.CallCanceled && lostSession(ctx) != nil {
				return // leave the call open, as after a crash, for whoever resumes the turn
			}
			// The effect has happened: its result is kept even if the turn is canceled right now.
			errs[i] = s.finishCall(context.WithoutCancel(ctx), j, finished)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.stoppedByReview(j, plans); err != nil {
		return err
	}
	return j.stoppedByHook()
}

// runOrResume returns the result of a call. It runs the call, unless an earlier attempt
// started it and it is not read-only. An error means that there is no result yet: the call
// waits for the user, or its checkpoint failed.
func (s *Stepper) runOrResume(ctx context.Context, j *journal, p plannedCall) (f pawl.CallFinished, err error) {
	if p.startedBefore && !p.started.ReadOnly {
		f = s.interruptedResult(ctx, j, p.started)
		return f, s.checkpoint(ctx, j, p)
	}
	if f, err = s.executeCall(ctx, j, p); err != nil {
		return f, err
	}
	s.addProjectRules(j, p, &f)
	if f.Status == pawl.CallCanceled && lostSession(ctx) != nil {
		return f, nil
	}
	s.snapshotAfter(ctx, j, p.started, &f)
	return f, s.checkpoint(ctx, j, p)
}

// checkpoint saves the workspace after a call that may have changed it. That is part of
// the call: when the turn is canceled it may go on for checkpointGrace.
func (s *Stepper) checkpoint(ctx context.Context, j *journal, p plannedCall) error {
	if s.Checkpoint == nil || p.started.ReadOnly {
		return nil
	}
	ctx, end := withGrace(ctx, checkpointGrace)
	defer end()
	return s.Checkpoint(ctx, j.id, p.call.Dir)
}

// checkpointGrace bounds the checkpoint after a canceled call.
const checkpointGrace = 30 * time.Second

// executeCall runs one call. It always returns a result, unless the call is suspended.
func (s *Stepper) executeCall(ctx context.Context, j *journal, p plannedCall) (pawl.CallFinished, error) {
	f := pawl.CallFinished{Call: p.started.Call, Status: pawl.CallDone}
	result, err := runTool(ctx, p)
	p.flush()
	var suspended *Suspended
	switch {
	case errors.As(err, &suspended):
		return f, suspended
	case err != nil && ctx.Err() != nil:
		f.Status = pawl.CallCanceled
		result.IsError = true
		result.Content = strings.TrimLeft(result.Content+"\n(canceled)", "\n")
	case err != nil:
		result = toolapi.ErrorResult(err.Error())
	}
	result = s.sanitizeResult(result)
	if f.Status == pawl.CallDone {
		result = s.runToolAfterHooks(ctx, j, p, result)
	}
	f.Result = s.truncateResult(ctx, p, result)
	return f, nil
}

// sanitizeResult strips invisible characters and masks secrets before a result reaches
// the model or the log.
func (s *Stepper) sanitizeResult(r pawl.Result) pawl.Result {
	r.Content = sanitize.Unhidden(r.Content)
	return s.Redact.Result(r)
}

// runTool runs the tool. It returns a panic as an error.
func runTool(ctx context.Context, p plannedCall) (r pawl.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(p.started.Tool, v)
		}
	}()
	return p.tool.Run(ctx, p.call)
}

func panicked(tool string, v any) error {
	return fmt.Errorf("tool %s panicked: %v\n%s", tool, v, debug.Stack())
}

// truncateResult stores content that is too large for the log as a blob, and leaves its
// head and tail with a note on how to read the rest. Some tools have done so already.
func (s *Stepper) truncateResult(ctx context.Context, p plannedCall, r pawl.Result) pawl.Result {
	limit := tool.ContentBytes(p.started.Tool)
	if len(r.Content) <= limit || r.Full != nil {
		return r
	}
	// What the tool did is kept even if the turn is canceled right now.
	r.Content, r.Full = tool.TruncateResult(context.WithoutCancel(ctx), s.Store, p.call.Session, strings.NewReader(r.Content), limit)
	return r
}
