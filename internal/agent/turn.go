package agent

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// Begin returns the turn to work on: the open one, or a new one for the oldest waiting
// prompt. While no turn is open, it first carries out the session's orders. ok is false
// if there is nothing to do.
func (s *Stepper) Begin(ctx context.Context, id pawl.SessionID) (t pawl.Turn, ok bool, err error) {
	j, err := s.enter(ctx, id)
	if err != nil {
		return pawl.Turn{}, false, err
	}
	defer j.leave()
	for j.history.Open() == nil {
		if orders := j.history.Orders(); len(orders) > 0 {
			if err := s.carryOut(ctx, j, orders[0]); err != nil {
				return pawl.Turn{}, false, err
			}
			continue
		}
		waiting := j.history.Waiting()
		if len(waiting) == 0 {
			return pawl.Turn{}, false, nil
		}
		if err := s.startTurn(ctx, j, waiting[0]); err != nil {
			return pawl.Turn{}, false, err
		}
	}
	open := j.history.Open()
	if err := s.loadProject(ctx, j); err != nil {
		return pawl.Turn{}, false, err
	}
	s.runStartHooksOnResume(ctx, j, open)
	t = pawl.Turn{Session: id, Number: open.Number, Prompt: open.Prompt, MaxSteps: open.Settings.MaxSteps}
	if def, err := j.agent(open.Settings.Agent); err == nil && t.MaxSteps == 0 {
		t.MaxSteps = def.Steps
	}
	return t, true, nil
}

// Settle reports whether the turn goes on after the model's last reply: because a prompt
// steers it, a background subagent returns, mission control has news, or a hook wants it.
// It waits for background subagents and for mission control.
func (s *Stepper) Settle(ctx context.Context, t pawl.Turn) (again bool, err error) {
	j, err := s.enterTurn(ctx, t)
	if err != nil {
		return false, err
	}
	defer j.leave()
	open := j.history.Open()
	if len(open.Steps) > t.Step || len(open.Injected) > 0 || len(j.steeringPrompts()) > 0 {
		return true, nil
	}
	if ids := unreported(open); len(ids) > 0 && !t.Last() {
		return true, s.awaitAnySubagent(ctx, ids)
	}
	if again, err := s.settleMission(ctx, j, t); again || err != nil {
		return again, err
	}
	return s.runStopHooks(ctx, j, t)
}

// Finish ends the turn: it cancels subagents and open asks, gives a result to each call
// that has none, and writes why the turn ended. If the turn has ended already, Finish does
// nothing.
func (s *Stepper) Finish(ctx context.Context, t pawl.Turn, stop pawl.Stop) error {
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
		if step.Reply != nil {
			replies++
		}
	}
	bodies = append(bodies, requeueSteered(open, stop)...)
	bodies = append(bodies, pawl.TurnFinished{
		Reason: stop.Reason, Fault: stop.Fault, Message: stop.Message, Steps: replies, Usage: open.Usage,
	})
	settings := open.Settings
	if _, err = j.append(ctx, bodies...); err == nil {
		s.notifyEnd(ctx, j, settings, stop)
	}
	return err
}

// requeueSteered returns the prompts again that came after a cancel but steered the turn
// before the cancel took effect: they get a turn of their own.
func requeueSteered(open *pawl.OpenTurn, stop pawl.Stop) []pawl.Body {
	if stop.Reason != pawl.ReasonCanceled || stop.UpTo == 0 {
		return nil
	}
	var bodies []pawl.Body
	for _, w := range open.Steered {
		if w.Seq > stop.UpTo {
			again := w.Prompt
			again.Again = w.Seq
			bodies = append(bodies, again)
		}
	}
	return bodies
}
