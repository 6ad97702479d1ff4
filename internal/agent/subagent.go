package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// maxBackground bounds the subagents that run in the background at once. Those in the
// foreground are calls, which maxParallel bounds.
const maxBackground = 8

// cancelGrace bounds how long a canceled call waits for its subagent to end.
const cancelGrace = 800 * time.Millisecond

// Spawn starts a subagent: a session of its own, with its own log, that works on a task.
// It waits for the result, unless the task runs in the background. A call that is run
// again after a crash continues with the subagent that it had.
func (h toolSession) Spawn(ctx context.Context, call pawl.CallID, task toolapi.SubagentTask) (toolapi.Subagent, error) {
	if h.s.Service == nil {
		return toolapi.Subagent{}, errors.New("no sessions can be made here")
	}
	if err := h.s.checkTask(h.j, task); err != nil {
		return toolapi.Subagent{}, err
	}
	spawned := h.call(call).Spawned
	if spawned == nil {
		body := pawl.Spawned{
			Call: call, Subagent: pawl.SessionID(ulid.Make().String()), Agent: task.Agent, Title: task.Title, Background: task.Background,
		}
		free := func() bool { return !task.Background || len(h.j.history.Open().Pending) < maxBackground }
		stored, err := h.j.appendIf(ctx, free, body)
		if err != nil {
			return toolapi.Subagent{}, err
		}
		if stored == nil {
			return toolapi.Subagent{}, fmt.Errorf("%d tasks run already: wait for one of them", maxBackground)
		}
		spawned = &body
	}
	if err := h.startSubagent(ctx, *spawned, task); err != nil {
		return toolapi.Subagent{}, err
	}
	if task.Background {
		return toolapi.Subagent{Session: spawned.Subagent}, nil
	}
	result, err := h.s.awaitSubagent(ctx, spawned.Subagent)
	if err != nil && ctx.Err() != nil && lostSession(ctx) == nil {
		// The turn is canceled: cancel the subagent too, and wait for it to end.
		return result, errors.Join(ctx.Err(), h.s.cancelSubagent(context.WithoutCancel(ctx), spawned.Subagent))
	}
	return result, err
}

// checkTask returns an error if the session may not start this subagent.
func (s *Stepper) checkTask(j *journal, task toolapi.SubagentTask) error {
	def, err := j.agent(task.Agent)
	if err != nil || !def.Subagent {
		return fmt.Errorf("there is no agent %q for a task; there are: %s", task.Agent, strings.Join(agentNames(j.project.found, true), ", "))
	}
	if j.history.Created().Parent != "" {
		return errors.New("a task cannot give tasks")
	}
	return nil
}

// startSubagent creates the subagent's session and sends it the task, unless an earlier
// attempt did. It resumes a subagent that was interrupted.
func (h toolSession) startSubagent(ctx context.Context, c pawl.Spawned, task toolapi.SubagentTask) error {
	svc := h.s.Service
	row, err := svc.Get(ctx, c.Subagent)
	if errors.Is(err, pawl.ErrNotFound) {
		row, err = svc.Create(ctx, pawl.NewSession{
			ID: c.Subagent, Dir: h.j.history.Created().Dir, Title: task.Title, Parent: h.j.id, ParentCall: c.Call,
		})
	}
	if err != nil {
		return fmt.Errorf("spawn: %w", err)
	}
	if row.Turns == 0 && row.Queued == 0 {
		settings, err := h.subagentSettings(task)
		if err != nil {
			return fmt.Errorf("spawn: %w", err)
		}
		prompt := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: task.Prompt}}, Settings: settings}
		if _, err := svc.Send(access.WithActor(ctx, h.j.actors()[0]), c.Subagent, prompt); err != nil {
			return fmt.Errorf("spawn: %w", err)
		}
		return nil
	}
	if row.State() == pawl.StateIdle {
		return nil
	}
	return h.s.resumeSubagent(ctx, c.Subagent)
}

// subagentSettings returns the settings of a subagent: those of its parent, restricted. A
// subagent has no permission that its parent lacks, and the budgets of its parent's turn
// limit it too: see limitedTurns. The list of tools is never empty,
// which would mean all: the parent has at least the task tool.
func (h toolSession) subagentSettings(task toolapi.SubagentTask) (pawl.Settings, error) {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	parent := h.j.history.Open().Settings
	own, err := h.j.agent(parent.Agent)
	if err != nil {
		return pawl.Settings{}, err
	}
	def, err := h.j.agent(task.Agent)
	if err != nil {
		return pawl.Settings{}, err
	}
	tools, err := h.s.inheritedTools(h.j, own, parent)
	if err != nil {
		return pawl.Settings{}, err
	}
	settings := pawl.Settings{
		Agent: task.Agent, Model: cmp.Or(def.Model, parent.Model), Effort: parent.Effort, Mode: parent.Mode, AddDirs: parent.AddDirs, Trusted: parent.Trusted, Absent: parent.Absent,
		AskTimeout: parent.AskTimeout, Tools: tools,
	}
	if own.Plan {
		settings.Mode = string(permission.ModePlan)
	}
	return settings, nil
}

// awaitSubagent waits for the end of a subagent and returns its result.
func (s *Stepper) awaitSubagent(ctx context.Context, id pawl.SessionID) (toolapi.Subagent, error) {
	result := toolapi.Subagent{Session: id}
	var outcome transcript.Outcome
	for e, err := range s.Service.Events(ctx, id, 0) {
		if err != nil {
			return result, fmt.Errorf("wait for subagent %s: %w", id, err)
		}
		outcome.Add(e)
		result.Text = outcome.Text
		switch b := e.Body.(type) {
		case pawl.TurnFinished:
			result.Done, result.End, result.Changed = true, b, slices.Sorted(slices.Values(outcome.Changed()))
			if s.SubagentEnded != nil {
				s.SubagentEnded(id)
			}
			return result, nil
		case pawl.Status:
			if b.State == "notice" {
				continue
			}
			return result, fmt.Errorf("subagent %s was interrupted: %s", id, b.Message)
		default:
		}
	}
	return result, context.Cause(ctx)
}

// cancelSubagent cancels a subagent and waits for its end, at most for cancelGrace.
func (s *Stepper) cancelSubagent(ctx context.Context, id pawl.SessionID) error {
	if err := s.Service.Cancel(ctx, id); err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return fmt.Errorf("cancel subagent %s: %w", id, err)
	}
	ctx, cancel := context.WithTimeout(ctx, cancelGrace)
	defer cancel()
	_, _ = s.awaitSubagent(ctx, id) // its own log records how it ended
	return nil
}

// cancelSubagents cancels the subagents and workers whose results the turn has not
// received.
func (s *Stepper) cancelSubagents(ctx context.Context, j *journal) error {
	for _, c := range j.history.Open().Subagents {
		if call := j.history.Call(c.Call); call.Finished && !slices.Contains(j.history.Open().Pending, c.Subagent) {
			continue
		}
		if err := s.cancelSubagent(ctx, c.Subagent); err != nil {
			return err
		}
	}
	for _, id := range j.history.Open().Workers {
		if err := s.cancelWorker(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// finishedSubagents returns the events that report finished background subagents to the
// model. It resumes those that were interrupted.
func (s *Stepper) finishedSubagents(ctx context.Context, open *pawl.OpenTurn) ([]pawl.Body, error) {
	var bodies []pawl.Body
	for _, id := range open.Pending {
		row, err := s.Service.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if row.State() != pawl.StateIdle {
			if err := s.resumeSubagent(ctx, id); err != nil {
				return nil, err
			}
			continue
		}
		result, err := s.awaitSubagent(ctx, id)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, pawl.Injected{Source: "task", Subagent: id, Text: tool.Report(result)})
	}
	return bodies, nil
}

// resumeSubagent makes sure that a subagent is running: after a crash none is.
func (s *Stepper) resumeSubagent(ctx context.Context, id pawl.SessionID) error {
	if err := s.Service.Resume(ctx, id); err != nil && !errors.Is(err, pawl.ErrBusy) {
		return fmt.Errorf("resume subagent %s: %w", id, err)
	}
	return nil
}

// awaitAnySubagent waits until one of the subagents has ended.
func (s *Stepper) awaitAnySubagent(ctx context.Context, ids []pawl.SessionID) error {
	for _, id := range ids {
		row, err := s.Service.Get(ctx, id)
		if err == nil && row.State() == pawl.StateIdle {
			return nil // it has ended already
		}
		if err == nil {
			err = s.resumeSubagent(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan error, len(ids))
	for _, id := range ids {
		go func() {
			_, err := s.awaitSubagent(ctx, id)
			first <- err
		}()
	}
	var timeout <-chan time.Time // nil: the step waits without limit
	if s.Suspend {
		timer := time.NewTimer(s.suspendAfter())
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case err := <-first:
		return err
	case <-timeout:
		return s.suspended(maxSuspended)
	}
}
