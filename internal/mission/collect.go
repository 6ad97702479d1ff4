package mission

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// turnEnd is the result of a session's latest turn.
type turnEnd struct {
	finish pawl.TurnFinished
	text   string // its last text
}

// supervise collects the work of a worker that has ended, and otherwise makes sure that it is running and not
// stuck.
func (c *Control) supervise(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState) error {
	if err := c.ensure(ctx, b, f, t); err != nil {
		return err
	}
	if f.live[t.Worker] == nil {
		f.live[t.Worker] = &liveness{at: c.Clock()}
	}
	row, err := c.Sessions.Get(ctx, t.Worker)
	if err != nil {
		return err
	}
	if row.State() == pawl.StateIdle {
		end, err := c.lastTurn(ctx, row)
		if err != nil {
			return err
		}
		return c.collect(ctx, b, f, t, end)
	}
	f.noteUpdate(row)
	return c.checkStuck(ctx, b, f, t)
}

// lastTurn reads how a session's latest turn ended.
func (c *Control) lastTurn(ctx context.Context, row pawl.Session) (turnEnd, error) {
	var e turnEnd
	for event, err := range c.log(ctx, row) {
		if err != nil {
			return e, err
		}
		switch body := event.Body.(type) {
		case pawl.Replied:
			if text := body.Parts.Text(); text != "" {
				e.text = text
			}
		case pawl.TurnFinished:
			e.finish = body
		default: // irrelevant for the end
		}
	}
	return e, nil
}

// log yields the events of a session up to row.Head.
func (c *Control) log(ctx context.Context, row pawl.Session) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for e, err := range c.Sessions.Events(ctx, row.ID, 0) {
			if err != nil {
				yield(e, fmt.Errorf("read the log of worker %s: %w", row.ID, err))
				return
			}
			if !yield(e, nil) || e.Seq >= row.Head {
				return
			}
		}
		yield(pawl.Event{}, context.Cause(ctx)) // the log ended early
	}
}

// collect merges a worker's result into the mission's branch, or returns the task.
func (c *Control) collect(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState, end turnEnd) error {
	label := labelOf(b.Session(), t, end)
	if commit, ok, err := f.trees.Merged(ctx, b.Mission().Branch, t.Base, label); err != nil {
		return err
	} else if ok {
		return c.merged(ctx, b, f, t, commit)
	}
	switch end.finish.Reason {
	case pawl.ReasonEndTurn:
	case pawl.ReasonCanceled:
		return c.returnPartial(ctx, b, f, t, label, pawl.ReturnStopped, "The mission was stopped while the worker was running.")
	case pawl.ReasonBudget:
		if err := b.Spent(ctx); err != nil {
			return err // the budget of the mission, which ends
		}
		if !strings.Contains(end.finish.Message, "has taken") { // a worker has no other limit of its own: the mission goes on with a new budget
			return c.returnPartial(ctx, b, f, t, label, pawl.ReturnStopped, "The budget of the mission was used up while the worker was running.")
		}
		fallthrough
	default:
		return c.returnPartial(ctx, b, f, t, label, pawl.ReturnFailed, fmt.Sprintf("The worker ended with %s: %s\n%s", end.finish.Reason, end.finish.Message, end.text))
	}
	if err := c.fetch(ctx, f, t); err != nil {
		return err
	}
	got, err := f.trees.Collect(ctx, worktreeName(t.Worker), t.Base, label)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.returnTask(ctx, b, f, t, pawl.TaskReturned{Why: pawl.ReturnRefused, Text: err.Error()})
	case got.Commit == "":
		return c.merged(ctx, b, f, t, b.Mission().Tip) // the worker says that nothing had to change; the gate verifies that
	}
	if touched := protected(*b.Mission().Criteria, got.Changes); len(touched) > 0 {
		return c.returnTask(ctx, b, f, t, pawl.TaskReturned{Why: pawl.ReturnProtected, Text: "Protected files were changed: " + strings.Join(touched, ", ")})
	}
	switch marked, err := f.marked(ctx, t, got); {
	case err != nil:
		return err
	case len(marked) > 0:
		return c.returnTask(ctx, b, f, t, pawl.TaskReturned{
			Why: pawl.ReturnConflict, Text: "Conflict markers are left in: " + strings.Join(marked, ", "), Base: t.Base, From: got.Commit,
		})
	}
	return c.merge(ctx, b, f, t, got, label)
}

// outside returns the changes that do not belong to a task: of files that it does not own, and new files that belong to
// another task. Other new files, such as tests, belong to the task that adds them.
func outside(m *pawl.Mission, t pawl.Task, changes []worktree.Change) (paths []string) {
	for _, ch := range changes {
		others := slices.ContainsFunc(m.Tasks, func(o pawl.TaskState) bool {
			return o.Task.ID != t.ID && o.Phase != pawl.PhaseDropped && len(o.Task.Files) > 0 && o.Task.Owns(ch.Path)
		})
		if !t.Owns(ch.Path) && (ch.State != "A" || others) {
			paths = append(paths, ch.Path)
		}
	}
	return paths
}

// maxOutside bounds the files in a TaskMerged that a task does not own.
const maxOutside = 50

// fetch brings the worktree back to this host if the worker ran on another.
func (c *Control) fetch(ctx context.Context, f *resources, t pawl.TaskState) error {
	if c.Fetch == nil {
		return nil
	}
	return c.Fetch(ctx, f.trees.Path(worktreeName(t.Worker)))
}

// conflictMark matches a conflict marker as git writes it in a merge of two commits.
var conflictMark = regexp.MustCompile(`(?m)^(<{7}|>{7}) [0-9a-f]{40,64}\r?$`)

// marked returns the files in which a worker left conflict markers that it had to resolve.
func (f *resources) marked(ctx context.Context, t pawl.TaskState, got worktree.Collected) (paths []string, err error) {
	if t.From == t.Base {
		return nil, nil // its worktree had no conflicts
	}
	for _, ch := range got.Changes {
		if ch.State == "D" {
			continue
		}
		text, err := f.repo.Show(ctx, got.Commit, ch.Path)
		if errors.Is(err, pawl.ErrInvalid) {
			continue // a link, or too large for git to write markers
		}
		if err != nil {
			return nil, err
		}
		if conflictMark.Match(text) {
			paths = append(paths, ch.Path)
		}
	}
	return paths, nil
}

func labelOf(id pawl.SessionID, t pawl.TaskState, end turnEnd) worktree.Label {
	return worktree.Label{Mission: string(id), Task: t.Task.ID, Attempt: t.Attempt, Title: t.Task.Title, Text: cut(end.text, 4000), At: t.Began}
}

// protected returns the changed paths that are protected.
func protected(f pawl.Criteria, changes []worktree.Change) (paths []string) {
	for _, ch := range changes {
		if gate.Protects(f, ch.Path) {
			paths = append(paths, ch.Path)
		}
	}
	return paths
}

// maxTries bounds how often a merge is repeated because the branch has moved.
const maxTries = 5

// merge puts a commit on top of the branch, runs the checks on the result, and moves the branch to it.
func (c *Control) merge(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState, got worktree.Collected, label worktree.Label) error {
	m := b.Mission()
	others := outside(m, t.Task, got.Changes)
	for range maxTries {
		put, err := f.trees.Merge(ctx, m.Branch, got.Commit, label)
		if err != nil {
			return err
		}
		if len(put.Conflicts) > 0 {
			return c.returnTask(ctx, b, f, t, pawl.TaskReturned{Why: pawl.ReturnConflict, Text: conflicts(put.Conflicts), Base: put.Onto, From: put.Marked})
		}
		if len(others) > 0 && t.Why != pawl.ReturnOutside { // if the worker leaves them so, the Commander sees them
			return c.returnTask(ctx, b, f, t, pawl.TaskReturned{
				Why: pawl.ReturnOutside, Text: "Files that the task does not own were changed: " + strings.Join(others, ", "), Base: put.Onto, From: put.Commit,
			})
		}
		faults, err := c.check(ctx, b, f, t, put.Commit)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			return c.returnTask(ctx, b, f, t, pawl.TaskReturned{Why: pawl.ReturnCheck, Text: listed(faults), Base: put.Onto, From: put.Commit})
		}
		err = f.trees.Advance(ctx, m.Branch, put.Onto, put.Commit)
		if err == nil {
			return c.merged(ctx, b, f, t, put.Commit, others...)
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return err
		}
	}
	return fault.New(pawl.ErrConflict, "branch %s keeps moving: someone else may be working on it", m.Branch).Hint("Stop other work on the branch, then run `pawl mission resume`.")
}

// check runs the checks on a merged commit.
func (c *Control) check(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState, commit string) (faults []pawl.GateFault, err error) {
	err = f.recording(ctx, b, pawl.CheckRan{Task: t.Task.ID}, func(string) {}, func(ctx context.Context, onRun func(pawl.CheckRun)) (err error) {
		faults, err = f.gate.Check(ctx, *b.Mission().Criteria, commit, onRun)
		return err
	})
	if errors.Is(err, experiment.ErrSetup) {
		return []pawl.GateFault{{Rule: "setup-failed", Text: err.Error()}}, nil
	}
	return faults, err
}

// recorded are the runs that are evidence by themselves; those of mutants and controls are part of the verdict.
var recorded = []string{"base", "head", "candidate", "old tests", "new tests"}

// recording calls do with a function that records a run of a check in the evidence chain and reports it to progress.
// example holds the other fields of the event. An error of the log ends do.
func (f *resources) recording(ctx context.Context, b missionapi.Journal, example pawl.CheckRan, progress func(string), do func(ctx context.Context, onRun func(pawl.CheckRun)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := do(ctx, func(r pawl.CheckRun) {
		progress(fmt.Sprintf("%s on %s: %s\n", r.Check, r.On, gate.Summary(r)))
		if !slices.Contains(recorded, r.On) || ctx.Err() != nil {
			return
		}
		next := example
		next.CheckRun = r
		if err := b.Record(ctx, next.Link(b.Mission().Chain)); err != nil {
			cancel(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil { // also if the last run was not recorded
		return cause
	}
	return err
}

// merged records that a task is done, after saving the commit that the event refers to. It then removes the
// worktree; if it is interrupted before that, Leave removes it.
func (c *Control) merged(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState, commit string, outside ...string) error {
	if err := b.Keep(ctx); err != nil {
		return err
	}
	if err := b.Record(ctx, pawl.TaskMerged{Task: t.Task.ID, Attempt: t.Attempt, Commit: commit, Outside: outside[:min(len(outside), maxOutside)]}); err != nil {
		return err
	}
	return c.removeWorktree(ctx, f, t.Worker)
}

// returnTask records that an attempt has failed.
func (c *Control) returnTask(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState, r pawl.TaskReturned) error {
	r.Task, r.Attempt, r.Text = t.Task.ID, t.Attempt, cut(r.Text, 16<<10)
	if r.From != "" { // the next attempt starts from this commit
		if err := b.Keep(ctx); err != nil {
			return err
		}
	}
	if err := b.Record(ctx, r); err != nil {
		return err
	}
	return c.removeWorktree(ctx, f, t.Worker)
}

// returnPartial is returnTask for interrupted work: it keeps the partial result for the next attempt if it still
// merges.
func (c *Control) returnPartial(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState, label worktree.Label, why pawl.ReturnReason, text string) error {
	r := pawl.TaskReturned{Why: why, Text: text}
	if err := c.fetch(ctx, f, t); err != nil {
		return err
	}
	got, err := f.trees.Collect(ctx, worktreeName(t.Worker), t.Base, label)
	if err == nil && got.Commit != "" && len(protected(*b.Mission().Criteria, got.Changes)) == 0 {
		if put, err := f.trees.Merge(ctx, b.Mission().Branch, got.Commit, label); err == nil && len(put.Conflicts) == 0 {
			r.Base, r.From = put.Onto, put.Commit
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.returnTask(ctx, b, f, t, r)
}

func conflicts(list []worktree.Conflict) string {
	var b strings.Builder
	for _, one := range list {
		fmt.Fprintf(&b, "%s: %s\n", one.Path, one.Kind)
	}
	return b.String()
}

func listed(faults []pawl.GateFault) string {
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "%s: %s\n", f.Rule, f.Text)
	}
	return b.String()
}
