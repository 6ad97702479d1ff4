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
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/weak"
)

// maxChildren bounds the subagents that work in the background at once. Those
// that are waited for are calls, which maxParallel bounds.
const maxChildren = 8

// cancelGrace bounds how long a canceled call waits for the end of its subagent.
const cancelGrace = 800 * time.Millisecond

// Spawn has a subagent session work on an errand. The subagent is a session like any
// other, with a log of its own, so that a crash loses nothing: a call that runs
// again goes on with the subagent that it had.
func (h host) Spawn(ctx context.Context, call pawl.CallID, e pawl.SubagentTask) (pawl.Child, error) {
	if h.j.s.Service == nil {
		return pawl.Child{}, errors.New("no sessions can be made here")
	}
	if err := h.j.s.checkErrand(h.j, e); err != nil {
		return pawl.Child{}, err
	}
	spawned := h.call(call).Spawned
	if spawned == nil {
		body := pawl.Spawned{
			Call: call, Child: pawl.SessionID(ulid.Make().String()), Agent: e.Agent, Title: e.Title, Background: e.Background,
		}
		room := func() bool { return !e.Background || len(untold(h.j.history.Open())) < maxChildren }
		stored, err := h.j.appendIf(ctx, room, body)
		if err != nil {
			return pawl.Child{}, err
		}
		if stored == nil {
			return pawl.Child{}, fmt.Errorf("%d tasks run already: wait for one of them", maxChildren)
		}
		spawned = &body
	}
	if err := h.begin(ctx, *spawned, e); err != nil {
		return pawl.Child{}, err
	}
	if e.Background {
		return pawl.Child{Session: spawned.Child}, nil
	}
	child, err := h.j.s.await(ctx, spawned.Child)
	if err != nil && ctx.Err() != nil && takenAway(ctx) == nil {
		// The turn is canceled: so is the subagent, and its end is waited for.
		return child, errors.Join(ctx.Err(), h.j.s.cancelChild(context.WithoutCancel(ctx), spawned.Child))
	}
	return child, err
}

// checkErrand returns why a session may not give this errand.
func (s *Stepper) checkErrand(j *journal, e pawl.SubagentTask) error {
	def, err := j.agent(e.Agent)
	if err != nil || !def.Child {
		return fmt.Errorf("there is no agent %q for a task; there are: %s", e.Agent, strings.Join(names(j.brought.found, true), ", "))
	}
	if j.history.Created().Parent != "" {
		return errors.New("a task cannot give tasks")
	}
	return nil
}

// begin makes the subagent and gives it its errand, unless an earlier attempt did.
func (h host) begin(ctx context.Context, c pawl.Spawned, e pawl.SubagentTask) error {
	svc := h.j.s.Service
	row, err := svc.Get(ctx, c.Child)
	if errors.Is(err, pawl.ErrNotFound) {
		row, err = svc.Create(ctx, pawl.NewSession{
			ID: c.Child, Dir: h.j.history.Created().Dir, Title: e.Title, Parent: h.j.id, ParentCall: c.Call,
		})
	}
	if err != nil {
		return fmt.Errorf("spawn: %w", err)
	}
	if row.Turns == 0 && row.Queued == 0 {
		settings, err := h.childSettings(ctx, e)
		if err != nil {
			return fmt.Errorf("spawn: %w", err)
		}
		prompt := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: e.Prompt}}, Settings: settings}
		if _, err := svc.Send(ctx, c.Child, prompt); err != nil {
			return fmt.Errorf("spawn: %w", err)
		}
		return nil
	}
	if row.State() == pawl.StateIdle {
		return nil
	}
	return h.j.s.goOn(ctx, c.Child)
}

// childSettings are the parent's, narrowed: a subagent has no right that its parent has not.
// The list of tools is never empty, which would mean all: the parent has task.
func (h host) childSettings(ctx context.Context, e pawl.SubagentTask) (pawl.Settings, error) {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	parent := h.j.history.Open().Settings
	own, err := h.j.agent(parent.Agent)
	if err != nil {
		return pawl.Settings{}, err
	}
	def, err := h.j.agent(e.Agent)
	if err != nil {
		return pawl.Settings{}, err
	}
	tools, err := h.j.s.inherited(h.j, own, parent)
	if err != nil {
		return pawl.Settings{}, err
	}
	child := pawl.Settings{
		Agent: e.Agent, Model: cmp.Or(def.Model, parent.Model), Mode: parent.Mode, Trusted: parent.Trusted, Absent: parent.Absent,
		AskTimeout: parent.AskTimeout, Tools: tools,
	}
	if own.Plan {
		child.Mode = string(permission.ModePlan)
	}
	if weak.On("agent.child") {
		child.Mode, child.Tools = "yolo", nil
	}
	return child, h.j.s.leftOver(ctx, h.j, &child)
}

// await returns what came of a subagent once its work has ended.
func (s *Stepper) await(ctx context.Context, id pawl.SessionID) (pawl.Child, error) {
	child := pawl.Child{Session: id}
	var writes pawl.Writes
	for e, err := range s.Service.Events(ctx, id, 0) {
		if err != nil {
			return child, fmt.Errorf("wait for the child %s: %w", id, err)
		}
		writes.Add(e.Body)
		switch b := e.Body.(type) {
		case pawl.Replied:
			if text := b.Parts.Text(); text != "" {
				child.Text = text
			}
		case pawl.TurnFinished:
			child.Done, child.End, child.Changed = true, b, slices.Sorted(slices.Values(writes.Paths()))
			if s.Ended != nil {
				s.Ended(id)
			}
			return child, nil
		case pawl.Status:
			if b.State == "notice" {
				continue
			}
			return child, fmt.Errorf("the child %s was interrupted: %s", id, b.Message)
		default: // says nothing of what came of it
		}
	}
	return child, context.Cause(ctx)
}

// cancelChild ends a subagent's work and waits for that, though not for long.
func (s *Stepper) cancelChild(ctx context.Context, id pawl.SessionID) error {
	if err := s.Service.Cancel(ctx, id); err != nil && !errors.Is(err, pawl.ErrNotFound) {
		return fmt.Errorf("cancel the child %s: %w", id, err)
	}
	ctx, cancel := context.WithTimeout(ctx, cancelGrace)
	defer cancel()
	_, _ = s.await(ctx, id) // its own log says how it ended
	return nil
}

// cancelChildren ends the subagents that nobody will hear of any more.
func (s *Stepper) cancelChildren(ctx context.Context, j *journal) error {
	for _, c := range j.history.Open().Children {
		if call := j.history.Call(c.Spawned.Call); c.Told && call.Finished {
			continue
		}
		if err := s.cancelChild(ctx, c.Spawned.Child); err != nil {
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

// untold returns the background subagents that the model has not been told of.
func untold(open *pawl.OpenTurn) []pawl.SessionID {
	var ids []pawl.SessionID
	for _, c := range open.Children {
		if !c.Told {
			ids = append(ids, c.Spawned.Child)
		}
	}
	return ids
}

// returned tells of the background subagents whose work has ended.
func (s *Stepper) returned(ctx context.Context, open *pawl.OpenTurn) ([]pawl.Body, error) {
	var bodies []pawl.Body
	for _, id := range untold(open) {
		row, err := s.Service.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if row.State() != pawl.StateIdle {
			if err := s.goOn(ctx, id); err != nil {
				return nil, err
			}
			continue
		}
		child, err := s.await(ctx, id)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, pawl.Injected{Source: "task", Child: id, Text: tool.Report(child)})
	}
	return bodies, nil
}

// goOn sees that somebody works on a subagent: if pawl died, nobody does.
func (s *Stepper) goOn(ctx context.Context, id pawl.SessionID) error {
	if err := s.Service.Resume(ctx, id); err != nil && !errors.Is(err, pawl.ErrBusy) {
		return fmt.Errorf("go on with the child %s: %w", id, err)
	}
	return nil
}

// awaitAny waits until the work of one of the subagents has ended.
func (s *Stepper) awaitAny(ctx context.Context, ids []pawl.SessionID) error {
	for _, id := range ids {
		row, err := s.Service.Get(ctx, id)
		if err == nil && row.State() == pawl.StateIdle {
			return nil // while nobody waited for it
		}
		if err == nil {
			err = s.goOn(ctx, id)
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
			_, err := s.await(ctx, id)
			first <- err
		}()
	}
	var enough <-chan time.Time // never, unless somebody waits elsewhere
	if s.Park {
		timer := time.NewTimer(s.patience())
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case err := <-first:
		return err
	case <-enough:
		return s.parked(maxParked)
	}
}
