package mission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// ready returns the tasks to start now: their predecessors are merged, their files do not overlap with those of
// running tasks, they are approved if they have to be, the mission is not paused, and a worker is free.
func ready(m *pawl.Mission) []pawl.TaskState {
	var open pawl.Plan
	merged, running := map[string]bool{}, map[string]bool{}
	for _, t := range m.Tasks {
		switch t.Phase {
		case pawl.PhaseMerged:
			merged[t.Task.ID] = true
		case pawl.PhaseRunning:
			running[t.Task.ID] = true
			open.Tasks = append(open.Tasks, t.Task)
		case pawl.PhaseQueued:
			if m.CanStart(t) {
				open.Tasks = append(open.Tasks, t.Task)
			}
		case pawl.PhasePlanned, pawl.PhaseReturned, pawl.PhaseDropped:
		}
	}
	var list []pawl.TaskState
	slots := min(m.Order.Workers-len(running), pawl.MissionAttempts-m.Attempts)
	if m.Paused > 0 {
		slots = 0
	}
	for _, t := range open.Ready(merged, running) {
		if len(list) < slots {
			list = append(list, *m.Task(t.ID))
		}
	}
	return list
}

// startReady starts workers for the tasks that are ready.
func (c *Control) startReady(ctx context.Context, b missionapi.Journal, f *resources) error {
	for _, t := range ready(b.Mission()) {
		tip := b.Mission().Tip
		started := pawl.TaskStarted{Task: t.Task.ID, Attempt: t.Attempt + 1, Worker: pawl.SessionID(ulid.Make().String()), Base: tip, From: tip}
		if t.Base == tip && t.From != "" { // the previous attempt's work is still based on the tip
			started.From = t.From
		}
		if err := b.Record(ctx, started); err != nil {
			if b.Mission().Paused > 0 { // since it was read
				return nil
			}
			return err
		}
		if err := c.ensure(ctx, b, f, *b.Mission().Task(t.Task.ID)); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates the worker of a task and sends it the prompt, unless that was done before a crash, and resumes
// it if it was interrupted.
func (c *Control) ensure(ctx context.Context, b missionapi.Journal, f *resources, t pawl.TaskState) error {
	row, err := c.Sessions.Get(ctx, t.Worker)
	if err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return err
	}
	if row.Turns == 0 && row.Queued == 0 {
		rules := ""
		if c.Offer != nil { // on other hosts the worker does not have the base commit's
			rules = b.Rules()
		}
		return c.startSession(ctx, b, f, assignment{
			session: t.Worker, from: t.From, agent: missionapi.AgentWorker, model: b.Mission().Order.Model,
			title: t.Task.ID + ": " + t.Task.Title, call: callID(t.Task.ID, t.Attempt), prompt: taskPrompt(b.Mission(), t, rules), known: err == nil,
		})
	}
	if row.State() != pawl.StateIdle && f.live[t.Worker] == nil {
		if err := c.Sessions.Resume(ctx, t.Worker); err != nil && !errors.Is(err, pawl.ErrBusy) {
			return fmt.Errorf("resume worker %s: %w", t.Worker, err)
		}
	}
	return nil
}

// callID returns the ParentCall of a mission's session, in place of the tool call that other subagents have.
func callID(words ...any) pawl.CallID {
	id := "mission"
	for _, w := range words {
		id += fmt.Sprintf(":%v", w)
	}
	return pawl.CallID(id)
}

// assignment describes a worker or reviewer to start.
type assignment struct {
	session      pawl.SessionID
	from         string // the commit in its worktree
	agent, model string
	title        string
	call         pawl.CallID
	prompt       string
	known        bool // its session exists already
}

// workerTime bounds one attempt of a worker. The Commander's budgets limit it too.
const workerTime = 2 * time.Hour

// startSession creates a worktree and a session in it, and sends the prompt.
func (c *Control) startSession(ctx context.Context, b missionapi.Journal, f *resources, p assignment) error {
	name := worktreeName(p.session)
	if err := f.trees.Remove(name); err != nil { // left by an earlier attempt
		return err
	}
	if err := f.trees.Make(ctx, p.from, name); err != nil {
		return fmt.Errorf("create a worktree: %w", err)
	}
	if err := c.guard(ctx, b, f, name); err != nil {
		return err
	}
	if c.ShareCache != nil && p.agent == missionapi.AgentWorker {
		if err := c.ShareCache(ctx, f.gate, f.trees.Path(name)); err != nil {
			return err
		}
	}
	if c.Offer != nil {
		if err := c.Offer(ctx, f.trees.Path(name)); err != nil {
			return err
		}
	}
	if !p.known {
		_, err := c.Sessions.Create(ctx, pawl.NewSession{ID: p.session, Dir: f.trees.Path(name), Title: p.title, Parent: b.Session(), ParentCall: p.call})
		if err != nil {
			return fmt.Errorf("create a worker: %w", err)
		}
	}
	lead := b.Settings()
	s := pawl.Settings{Agent: p.agent, Model: cmp.Or(p.model, lead.Model), Mode: lead.Mode, Absent: lead.Absent, AskTimeout: lead.AskTimeout, MaxTime: workerTime}
	if _, err := c.Sessions.Send(ctx, p.session, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: p.prompt}}, Settings: s}); err != nil {
		return fmt.Errorf("prompt a worker: %w", err)
	}
	return nil
}

// guard lets the project's configuration at the mission's base commit apply in a worktree. The commit is checked
// out beside the worktrees, where no worker can write, in a directory that has the name of the mission's session.
func (c *Control) guard(ctx context.Context, b missionapi.Journal, f *resources, name string) error {
	if c.Guard == nil {
		return nil
	}
	base := worktreeName(b.Session())
	if _, err := os.Lstat(f.trees.Path(base)); errors.Is(err, fs.ErrNotExist) {
		if err := c.removeWorktree(ctx, f, b.Session()); err != nil { // what an earlier checkout has left
			return err
		}
		if err := f.trees.Make(ctx, b.Mission().Criteria.Base, base); err != nil && !errors.Is(err, pawl.ErrConflict) {
			return fmt.Errorf("check out the base commit: %w", err)
		}
	}
	return c.Guard(ctx, policy.Guarding{
		Repo: f.repo, Project: b.Dir(), Trusted: b.Settings().Trusted, Checkout: f.trees.Path(base), Worktree: f.trees.Path(name),
	})
}

// taskPrompt returns the prompt of a worker.
func taskPrompt(m *pawl.Mission, t pawl.TaskState, rules string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The mission: %s\n\nYour task, %s: %s\n", m.Order.Goal, t.Task.ID, t.Task.Title)
	if t.Task.Detail != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Task.Detail)
	}
	list := func(head string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "\n%s:\n- %s\n", head, strings.Join(items, "\n- "))
		}
	}
	list("What you own", t.Task.Files)
	list("It is done when", t.Task.Accept)
	var others []string
	for _, o := range m.In(pawl.PhaseRunning) {
		if o.Task.ID != t.Task.ID {
			others = append(others, fmt.Sprintf("%s: %s", o.Task.ID, o.Task.Title))
		}
	}
	slices.Sort(others)
	list("Others are at", others)
	if rules != "" {
		fmt.Fprintf(&b, "\nThe rules of the project:\n%s\n", rules)
	}
	if t.Why != "" {
		fmt.Fprintf(&b, "\nAn attempt before this one came back: %s.", reasons[t.Why])
		if t.From != t.Base {
			b.WriteString(" Its changes are in your working directory.")
		}
		fmt.Fprintf(&b, "\n%s\n", quoted(t.Text))
	}
	return b.String()
}

var reasons = map[pawl.ReturnReason]string{
	pawl.ReturnConflict:  "it did not fit together with what others had merged meanwhile. Where git marked conflicts in files, settle them so that both changes hold",
	pawl.ReturnCheck:     "put together with what others had merged, a check fails",
	pawl.ReturnProtected: "it changed files that must stay as they are. Do without",
	pawl.ReturnOutside:   "it changed files that the task does not own, and that others may be changing. Put them back. If the task cannot be done without, leave the change and say why in your last message, which the Commander reads",
	pawl.ReturnRefused:   "its files could not be taken over",
	pawl.ReturnFailed:    "its worker did not come to an end",
	pawl.ReturnStuck:     "its worker gave no sign any more",
	pawl.ReturnCanceled:  "canceled by the Commander",
	pawl.ReturnStopped:   "the mission was stopped meanwhile",
}
