package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// Begin returns the turn to work on: the open one, or a new one for the oldest waiting
// prompt. While no turn is open, it first carries out the session's orders. ok is false
// if there is nothing to do.
func (s *Stepper) Begin(ctx context.Context, id pawl.SessionID) (t Turn, ok bool, err error) {
	j, err := s.enter(ctx, id)
	if err != nil {
		return Turn{}, false, err
	}
	defer j.leave()
	for j.history.Open() == nil {
		if orders := j.history.Orders(); len(orders) > 0 {
			if err := s.carryOut(ctx, j, orders[0]); err != nil {
				return Turn{}, false, err
			}
			continue
		}
		waiting := j.history.Waiting()
		if len(waiting) == 0 {
			return Turn{}, false, nil
		}
		if err := s.startTurn(ctx, j, waiting[0]); err != nil {
			return Turn{}, false, err
		}
	}
	open := j.history.Open()
	if err := s.loadProject(ctx, j); err != nil {
		return Turn{}, false, err
	}
	s.runStartHooksOnResume(ctx, j, open)
	t = Turn{Session: id, Number: open.Number, Prompt: open.Prompt, MaxSteps: open.Settings.MaxSteps}
	if def, err := j.agent(open.Settings.Agent); err == nil && t.MaxSteps == 0 {
		t.MaxSteps = def.Steps
	}
	return t, true, nil
}

// carryOut carries out an order of the user: a compaction, an undo or redo, or a shell
// command.
func (s *Stepper) carryOut(ctx context.Context, j *journal, o pawl.Order) error {
	switch b := o.Body.(type) {
	case pawl.CompactionAsked:
		return s.compact(ctx, j, compaction{order: o.Seq, instructions: b.Instructions})
	case pawl.UndoAsked:
		return s.undo(ctx, j, o.Seq, b.Undo)
	case pawl.ShellAsked:
		return s.shell(ctx, j, o, b)
	default:
		return fmt.Errorf("unknown request %s", pawl.KindOf(o.Body))
	}
}

// Settle reports whether the turn goes on after the model's last reply: because a prompt
// steers it, a background subagent returns, mission control has news, or a hook wants it.
// It waits for background subagents and for mission control.
func (s *Stepper) Settle(ctx context.Context, t Turn) (goOn bool, err error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return false, err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) > t.Step || len(open.Injected) > 0 || len(j.steeringPrompts()) > 0 {
		return true, nil
	}
	if ids := open.Pending; len(ids) > 0 && !t.Last() {
		return true, s.awaitAnySubagent(ctx, ids)
	}
	if goOn, err := s.settleMission(ctx, j, t); goOn || err != nil {
		return goOn, err
	}
	return s.runStopHooks(ctx, j, t)
}

// Finish ends the turn: it cancels subagents and open asks, gives a result to each call
// that has none, and writes why the turn ended. If the turn has ended already, Finish does
// nothing.
func (s *Stepper) Finish(ctx context.Context, t Turn, stop Stop) error {
	j, err := s.enter(ctx, t.Session)
	if err != nil {
		return err
	}
	defer j.leave()
	open := j.history.Open()
	if open == nil || open.Number != t.Number {
		return nil
	}
	s.reportServers(j, t.Number)
	if err := s.cancelSubagents(ctx, j); err != nil {
		return err
	}
	if s.hasMission(j) {
		if err := s.Missions.Leave(ctx, missionJournal{s, j}); err != nil {
			s.notice(j, t.Number, err.Error())
		}
	}
	bodies := append(j.cancelOpenAsks(), s.finishOpenCalls(ctx, j, pawl.CallCanceled)...)
	replies := 0
	for _, step := range open.Steps {
		if step.Replied {
			replies++
		}
	}
	usage, err := s.turnUsage(ctx, j)
	if err != nil {
		return err
	}
	bodies = append(bodies, requeueSteered(open, stop)...)
	bodies = append(bodies, pawl.TurnFinished{
		Reason: stop.Reason, Fault: stop.Fault, Message: stop.Message, Steps: replies, Usage: usage,
	})
	settings := open.Settings
	if _, err = j.append(ctx, bodies...); err == nil {
		s.notifyEnd(ctx, j, settings, stop)
	}
	return err
}

// requeueSteered returns the prompts again that came after a cancel but steered the turn
// before the cancel took effect: they get a turn of their own.
func requeueSteered(open *pawl.OpenTurn, stop Stop) []pawl.Body {
	if stop.Reason != pawl.ReasonCanceled || stop.UpTo == 0 {
		return nil
	}
	var bodies []pawl.Body
	for _, w := range open.Steered {
		if w.Seq > stop.UpTo {
			requeued := w.Prompt
			requeued.Again = w.Seq
			bodies = append(bodies, requeued)
		}
	}
	return bodies
}

// Stop is how a step ends the turn: with a reason that people and scripts can act on.
// Any other error from a step is an internal fault, such as a store that fails;
// the turn then stays open in the log and can be resumed.
type Stop struct {
	Reason  pawl.Reason
	Fault   pawl.Fault
	Message string
	UpTo    pawl.Seq // of a cancel: prompts that were accepted later are not meant
}

func (s *Stop) Error() string {
	if s.Message == "" {
		return string(s.Reason)
	}
	return fmt.Sprintf("%s: %s", s.Reason, s.Message)
}

// StopOf says how a turn ended, given what the loop returned. An error that is
// no Stop comes back as it is: the turn has not ended.
func StopOf(reason pawl.Reason, err error) (Stop, error) {
	var stop *Stop
	switch {
	case err == nil:
		return Stop{Reason: reason}, nil
	case errors.As(err, &stop):
		return *stop, nil
	default:
		return Stop{}, err
	}
}

// Turn names the work on one prompt, and where in it the loop stands. It is
// all that crosses a step's border: what it stands for is in the log.
type Turn struct {
	Session  pawl.SessionID `json:"session"`
	Number   int            `json:"number"`
	Prompt   pawl.Seq       `json:"prompt"`
	Step     int            `json:"step"`                // from 1, counted by the loop
	MaxSteps int            `json:"max_steps,omitempty"` // 0 means no limit
}

// Last reports whether this is the last permitted step: tools are withheld and
// the model is asked to wrap up.
func (t Turn) Last() bool { return t.MaxSteps > 0 && t.Step >= t.MaxSteps }

// Reply is what the loop needs to know of a model's reply.
type Reply struct {
	Finish pawl.Finish   `json:"finish"`
	Calls  []pawl.CallID `json:"calls,omitempty"`
}

// replyOf returns the reply of a step that has one.
func replyOf(s pawl.Step) Reply { return Reply{Finish: s.Finish, Calls: s.Calls} }
