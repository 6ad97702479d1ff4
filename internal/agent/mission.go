package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// Missions is mission control: it joins in the turns of a mission's Commander. What
// it has to say is for the Commander's model; "" is nothing.
type Missions interface {
	// Advance takes in what workers have left and starts those that can begin. It waits
	// for none of them.
	Advance(ctx context.Context, b pawl.MissionJournal) (news string, err error)
	// Settle is asked when the Commander has nothing more to do, and said this last. It
	// waits for the workers until there is something to decide. The turn ends if it has
	// nothing to say.
	Settle(ctx context.Context, b pawl.MissionJournal, said string) (news string, err error)
	// Leave is told that the turn ends, and that nobody works for it any more.
	Leave(ctx context.Context, b pawl.MissionJournal) error
}

// commands reports whether the session is a mission's, and there is mission control.
func (s *Stepper) commands(j *journal) bool { return s.Missions != nil && j.history.Mission() != nil }

// advanceMission is what mission control has to say before a step.
func (s *Stepper) advanceMission(ctx context.Context, j *journal) ([]pawl.Body, error) {
	if !s.commands(j) {
		return nil, nil
	}
	news, err := s.Missions.Advance(ctx, bridge{j})
	if err != nil || news == "" {
		return nil, s.missionFault(ctx, err)
	}
	return []pawl.Body{pawl.Injected{Source: pawl.SourceMission, Text: news}}, nil
}

// settleMission lets mission control go on with the turn. The log has why, so that
// a step that is taken again goes on too.
func (s *Stepper) settleMission(ctx context.Context, j *journal, t pawl.Turn) (again bool, err error) {
	open := j.history.Open()
	if !s.commands(j) || t.Last() || open.Steps[t.Step-1].Reply.Finish == pawl.FinishCanceled {
		return false, nil
	}
	messages := j.history.Messages()
	news, err := s.Missions.Settle(ctx, bridge{j}, messages[len(messages)-1].Text())
	if err != nil {
		return false, s.missionFault(ctx, err)
	}
	if _, err := j.readOn(ctx); err != nil {
		return false, err
	}
	if len(j.steering()) > 0 {
		return true, nil // what a person says comes first, and what there is to say with it
	}
	if news == "" {
		return false, nil
	}
	_, err = j.append(ctx, pawl.Injected{Source: pawl.SourceMission, Text: news})
	return true, err
}

// missionFault is an error of mission control: unless the work is taken away or it
// has a reason of its own, the turn ends with it. Runners that wait elsewhere also try
// again what something could not be reached for.
func (s *Stepper) missionFault(ctx context.Context, err error) error {
	var parked *Parked
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &parked):
		return parked
	case s.Park && errors.Is(err, pawl.ErrUnavailable):
		return err
	}
	if stop, ok := err.(*pawl.Stop); ok { //nolint:errorlint // it is returned as it is
		return stop
	}
	return &pawl.Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()}
}

// cancelWorker ends the work of a worker that has not come to its end.
func (s *Stepper) cancelWorker(ctx context.Context, id pawl.SessionID) error {
	row, err := s.Service.Get(ctx, id)
	switch {
	case pawl.CodeOf(err) == pawl.CodeNotFound:
		return nil // it was never made
	case err != nil:
		return fmt.Errorf("cancel the worker %s: %w", id, err)
	case row.State() == pawl.StateIdle:
		return nil
	}
	return s.cancelChild(ctx, id)
}

// ofTeam reports whether the session's agent is of a mission's team.
func (j *journal) ofTeam() bool {
	def, err := j.agent(host{j}.settings().Agent)
	return err == nil && def.Team
}

// bridge is a mission's session as mission control uses it.
type bridge struct{ j *journal }

var _ pawl.MissionJournal = bridge{}

// MissionJournal returns what mission control needs of the session, if it commands one.
func (h host) Bridge() pawl.MissionJournal {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	if h.j.history.Mission() == nil {
		return nil
	}
	return bridge(h)
}

func (b bridge) Session() pawl.SessionID { return b.j.id }

func (b bridge) Dir() string { return b.j.history.Created().Dir } // never changes

func (b bridge) Settings() pawl.Settings { return host(b).settings() }

func (b bridge) Mission() *pawl.Mission {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	return b.j.history.Mission().Clone()
}

// Rules are what the Commander itself is told of the project's rules.
func (b bridge) Rules() string {
	if found := b.j.brought.found; found != nil && found.Rules != nil {
		return found.Rules.Prompt()
	}
	return ""
}

// Record writes bodies of the mission, if they follow from it.
func (b bridge) Record(ctx context.Context, bodies ...pawl.Body) error {
	var refused error
	follows := func() bool {
		refused = b.j.history.Mission().Try(bodies...)
		return refused == nil
	}
	// What they tell of has happened: it is kept even if the turn is canceled right now.
	if _, err := b.j.appendIf(context.WithoutCancel(ctx), follows, slices.Clone(bodies)...); err != nil {
		return err
	}
	return refused
}

func (b bridge) Spent(ctx context.Context) error {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	_, err := b.j.s.budget(ctx, b.j)
	return err
}

func (b bridge) Steered(ctx context.Context) (bool, error) {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	_, err := b.j.readOn(ctx)
	return len(b.j.steering()) > 0, err
}

// Keep keeps the project. If that fails the step does, and is taken again.
func (b bridge) Keep(ctx context.Context) error {
	if b.j.s.Keep == nil {
		return nil
	}
	if err := b.j.s.Keep(ctx, b.j.id, b.Dir()); err != nil {
		return fmt.Errorf("%w: %w", err, pawl.ErrUnavailable)
	}
	return nil
}

func (b bridge) Park(began time.Time, most time.Duration) error {
	s := b.j.s
	if !s.Park || s.Clock().Sub(began) < s.patience() {
		return nil
	}
	return s.parked(most)
}

// Bound narrows a worker's settings. One without a bound for its time gets one.
func (b bridge) Bound(ctx context.Context, s *pawl.Settings) error {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	if err := b.j.s.leftOver(ctx, b.j, s); err != nil {
		return err
	}
	if s.MaxTime == 0 || s.MaxTime > workerTime {
		s.MaxTime = workerTime
	}
	return nil
}

// workerTime bounds one worker's attempt.
const workerTime = 2 * time.Hour
