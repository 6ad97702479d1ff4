package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// Missions is mission control, which takes part in the turns of a mission's commander.
// The news it returns is for the commander's model; "" means none.
type Missions interface {
	// Advance collects the results of finished workers and starts those that can begin. It
	// does not wait for workers.
	Advance(ctx context.Context, b missionapi.Journal) (news string, err error)
	// Settle is called when the commander's turn would end; said is its last message. It
	// waits for the workers until there is something to decide. Without news the turn ends.
	Settle(ctx context.Context, b missionapi.Journal, said string) (news string, err error)
	// Leave is called when the turn ends, after its workers were canceled.
	Leave(ctx context.Context, b missionapi.Journal) error
}

// hasMission reports whether the session has a mission, and mission control is configured.
func (s *Stepper) hasMission(j *journal) bool { return s.Missions != nil && j.history.Mission() != nil }

// advanceMission returns mission control's news before a step.
func (s *Stepper) advanceMission(ctx context.Context, j *journal) ([]pawl.Body, error) {
	if !s.hasMission(j) {
		return nil, nil
	}
	news, err := s.Missions.Advance(ctx, missionJournal{s, j})
	if err != nil || news == "" {
		return nil, s.missionFault(ctx, err)
	}
	return []pawl.Body{pawl.Injected{Source: missionapi.Source, Text: news}}, nil
}

// settleMission reports whether mission control keeps the turn going. The reason goes to
// the log, so that a repeated step goes on too.
func (s *Stepper) settleMission(ctx context.Context, j *journal, t Turn) (goOn bool, err error) {
	open := j.history.Open()
	if !s.hasMission(j) || t.Last() || open.Steps[t.Step-1].Finish == pawl.FinishCanceled {
		return false, nil
	}
	messages := j.history.Messages()
	news, err := s.Missions.Settle(ctx, missionJournal{s, j}, messages[len(messages)-1].Text())
	if err != nil {
		return false, s.missionFault(ctx, err)
	}
	if _, err := j.catchUp(ctx); err != nil {
		return false, err
	}
	if len(j.steeringPrompts()) > 0 {
		return true, nil // the user comes first; the news is returned again with the next step
	}
	if news == "" {
		return false, nil
	}
	_, err = j.append(ctx, pawl.Injected{Source: missionapi.Source, Text: news})
	return true, err
}

// missionFault returns what an error of mission control means for the step: the turn ends
// with it, unless ctx has ended, the step is suspended or the error is a *Stop
// itself. Runners that suspend steps also retry ErrUnavailable.
func (s *Stepper) missionFault(ctx context.Context, err error) error {
	var suspended *Suspended
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &suspended):
		return suspended
	case s.Suspend && errors.Is(err, pawl.ErrUnavailable):
		return err
	}
	if stop, ok := err.(*Stop); ok { //nolint:errorlint // it is returned as it is
		return stop
	}
	return &Stop{Reason: pawl.ReasonError, Fault: pawl.FaultInternal, Message: err.Error()}
}

// cancelWorker cancels a worker, unless it has ended.
func (s *Stepper) cancelWorker(ctx context.Context, id pawl.SessionID) error {
	row, err := s.Service.Get(ctx, id)
	switch {
	case pawl.CodeOf(err) == pawl.CodeNotFound:
		return nil // it was never created
	case err != nil:
		return fmt.Errorf("cancel worker %s: %w", id, err)
	case row.State() == pawl.StateIdle:
		return nil
	}
	return s.cancelSubagent(ctx, id)
}

// inMissionTeam reports whether the session's agent belongs to a mission's team.
func (j *journal) inMissionTeam() bool {
	def, err := j.agent(j.settings().Agent)
	return err == nil && def.Team
}

// missionJournal is the commander's session as mission control uses it.
type missionJournal struct {
	s *Stepper
	j *journal
}

var _ missionapi.Journal = missionJournal{}

// Journal returns the session for mission control, or nil if it has no mission.
func (h toolSession) Journal() missionapi.Journal {
	h.j.mu.Lock()
	defer h.j.mu.Unlock()
	if h.j.history.Mission() == nil {
		return nil
	}
	return missionJournal(h)
}

func (b missionJournal) Session() pawl.SessionID { return b.j.id }

func (b missionJournal) Dir() string { return b.j.history.Created().Dir } // never changes

func (b missionJournal) Settings() pawl.Settings { return b.j.settings() }

func (b missionJournal) Mission() *pawl.Mission {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	return b.j.history.Mission().Clone()
}

// Rules returns the project rules as the commander's system prompt has them.
func (b missionJournal) Rules() string {
	if found := b.j.project.found; found != nil && found.Rules != nil {
		return found.Rules.Prompt()
	}
	return ""
}

// Record appends bodies to the log if the mission's state permits them.
func (b missionJournal) Record(ctx context.Context, bodies ...pawl.Body) error {
	var invalid error
	valid := func() bool {
		invalid = b.j.history.Mission().Try(bodies...)
		return invalid == nil
	}
	// They report effects: they must be kept even if the turn is canceled right now.
	if _, err := b.j.appendIf(context.WithoutCancel(ctx), valid, slices.Clone(bodies)...); err != nil {
		return err
	}
	return invalid
}

func (b missionJournal) Notice(text string) {
	b.j.mu.Lock()
	turn := b.j.history.Turns()
	b.j.mu.Unlock()
	b.s.notice(b.j, turn, text)
}

func (b missionJournal) Spent(ctx context.Context) error {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	_, err := b.s.checkBudgets(ctx, b.j)
	return err
}

func (b missionJournal) Steered(ctx context.Context) (bool, error) {
	b.j.mu.Lock()
	defer b.j.mu.Unlock()
	_, err := b.j.catchUp(ctx)
	return len(b.j.steeringPrompts()) > 0, err
}

// Keep saves a checkpoint of the project. If that fails, so does the step, and it is
// repeated.
func (b missionJournal) Keep(ctx context.Context) error {
	if b.s.Checkpoint == nil {
		return nil
	}
	if err := b.s.Checkpoint(ctx, b.j.id, b.Dir()); err != nil {
		return fault.New(pawl.ErrUnavailable, "%w", err)
	}
	return nil
}

func (b missionJournal) Suspend(began time.Time, most time.Duration) error {
	s := b.s
	if !s.Suspend || s.Clock().Sub(began) < s.suspendAfter() {
		return nil
	}
	return s.suspended(most)
}
