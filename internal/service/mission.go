package service

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// StartMission starts a mission and wakes the runner. Its session, order and prompt are one append,
// so that a crash leaves either nothing or a complete mission.
func (s *Service) StartMission(ctx context.Context, n pawl.NewMission) (pawl.Session, error) {
	id, events, err := s.mission(ctx, n)
	if err == nil {
		_, err = s.Bus.Append(ctx, id, 0, events...)
	}
	if err != nil {
		return pawl.Session{}, fmt.Errorf("start mission: %w", err)
	}
	wake := s.Runner.Wake(ctx, id)
	row, err := s.Get(ctx, id)
	if wake != nil {
		err = fmt.Errorf("start mission %s (it is saved and can be resumed): %w", id, wake)
	}
	return row, err
}

// mission returns the id and the first events of a mission.
func (s *Service) mission(ctx context.Context, n pawl.NewMission) (pawl.SessionID, []pawl.Event, error) {
	if !filepath.IsAbs(n.Dir) {
		return "", nil, fault.New(pawl.ErrInvalid, "directory %q is not an absolute path", n.Dir)
	}
	id, err := newID(n.ID)
	if err != nil {
		return "", nil, err
	}
	owner, err := s.ownerOf(ctx, pawl.NewSession{Owner: n.Owner})
	if err != nil {
		return "", nil, err
	}
	if err := n.Order.Check(); err != nil {
		return "", nil, err
	}
	settings, err := s.commanderSettings(ctx, n)
	if err != nil {
		return "", nil, err
	}
	by := access.ActorOf(ctx)
	return id, []pawl.Event{
		s.event(pawl.SessionCreated{Dir: n.Dir, Owner: owner}),
		s.event(pawl.MissionStarted{Order: n.Order.Complete(), By: by}),
		s.event(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: n.Order.Goal}}, By: by, Settings: settings}),
	}, nil
}

// commanderSettings returns the settings of a mission's first turn, after checking them and those of
// the whole team.
func (s *Service) commanderSettings(ctx context.Context, n pawl.NewMission) (pawl.Settings, error) {
	settings, err := teamSettings(pawl.Session{Mission: pawl.MissionWorking}, n.Settings)
	if err != nil {
		return settings, err
	}
	if settings.Mode, err = agent.ModeOf(settings); err != nil {
		return settings, err
	}
	if settings.Model, err = s.model(settings.Model); err != nil {
		return settings, err
	}
	if err := s.check(ctx, n.Dir, settings); err != nil {
		return settings, err
	}
	others := []pawl.Settings{{Agent: missionapi.AgentWorker, Model: n.Order.Model}}
	for _, model := range n.Order.Reviewers {
		others = append(others, pawl.Settings{Agent: missionapi.AgentReviewer, Model: model})
	}
	for _, other := range others {
		if other.Model == "" {
			continue // the commander's model
		}
		other.Mode, other.Trusted = settings.Mode, settings.Trusted
		if err := s.check(ctx, n.Dir, other); err != nil {
			return settings, fmt.Errorf("model of the %s: %w", other.Agent, err)
		}
	}
	return settings, nil
}

// teamSettings returns the settings of a prompt with the agent for the session: a mission is worked on
// by its commander, and the agents of the team work for missions only.
func teamSettings(row pawl.Session, s pawl.Settings) (pawl.Settings, error) {
	switch mission := row.Mission != ""; {
	case mission && s.Agent != "" && s.Agent != missionapi.AgentCommander:
		return s, fault.New(pawl.ErrInvalid, "a mission is run by its commander, not by agent %.40q", s.Agent).Hint("Omit the agent, or start a separate session for it.")
	case mission:
		s.Agent = missionapi.AgentCommander
		if s.MaxTime == 0 {
			s.MaxTime = pawl.MissionTime
		}
	case s.Agent == missionapi.AgentCommander, row.Parent == "" && (s.Agent == missionapi.AgentPlanner || s.Agent == missionapi.AgentWorker || s.Agent == missionapi.AgentReviewer):
		return s, fault.New(pawl.ErrInvalid, "agent %s can only be used in missions", s.Agent).Hint("Run `pawl mission`, or choose another agent.")
	}
	return s, nil
}

// rejectMission returns an error if the session is a mission, for operations that missions do not
// support.
func rejectMission(row pawl.Session) error {
	if row.Mission == "" {
		return nil
	}
	return fault.New(pawl.ErrInvalid, "session %s runs a mission: it cannot be forked or undone, and accepts no shell commands", row.ID).Hint("Send a prompt to the mission instead.")
}

// Mission returns everything about a mission. The session row and the log are read as of the same
// Seq.
func (s *Service) Mission(ctx context.Context, id pawl.SessionID) (pawl.Board, error) {
	row, err := s.Get(ctx, id)
	if err != nil {
		return pawl.Board{}, err
	}
	var ended *pawl.TurnFinished
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] {
		return upTo(s.Store.Events(ctx, id, after), row.Head, func(e pawl.Event) {
			switch b := e.Body.(type) {
			case pawl.TurnStarted:
				ended = nil
			case pawl.TurnFinished:
				ended = &b
			default:
			}
		})
	})
	if err != nil {
		return pawl.Board{}, fmt.Errorf("read log of %s: %w", id, err)
	}
	mission := h.Mission()
	if mission == nil {
		return pawl.Board{}, fault.New(pawl.ErrInvalid, "session %s has no mission", id).Hint("Run `pawl mission list` to see all missions.")
	}
	board := pawl.Board{Session: row, State: row.MissionState(), Mission: *mission, Ended: ended, Usage: row.Usage}
	if err := s.stopAbandoned(ctx, &board); err != nil {
		return pawl.Board{}, err
	}
	if board.Team, err = s.team(ctx, id, mission); err != nil {
		return pawl.Board{}, err
	}
	addTaskUsage(&board)
	return board, nil
}

// addTaskUsage adds what the workers of each task have used.
func addTaskUsage(b *pawl.Board) {
	used := map[pawl.SessionID]pawl.Usage{}
	for _, row := range b.Team {
		used[row.ID] = row.Usage
	}
	for i := range b.Mission.Tasks {
		t := &b.Mission.Tasks[i]
		for _, worker := range t.Workers {
			t.Usage = t.Usage.Add(used[worker])
		}
	}
}

// stopAbandoned makes a board say that nobody works on the mission if its process was killed or it was stopped. Its
// log does not: the tasks that ran then start again when it is resumed.
func (s *Service) stopAbandoned(ctx context.Context, b *pawl.Board) error {
	if b.State == pawl.MissionWorking && s.Abandoned != nil {
		abandoned, err := s.Abandoned(ctx, b.Session.ID)
		if err != nil {
			return err
		}
		if abandoned {
			b.State = pawl.MissionStopped
		}
	}
	for i := range b.Mission.Tasks {
		if t := &b.Mission.Tasks[i]; b.State != pawl.MissionWorking && t.Phase == pawl.PhaseRunning {
			t.Phase = pawl.PhaseQueued
		}
	}
	return nil
}

// checkMission returns an error if the mission cannot do what a prompt asks for: only an idle mission takes an approval,
// because its plan can change while it works, and only a running one can be paused.
func (s *Service) checkMission(ctx context.Context, row pawl.Session, p pawl.Prompt) error {
	switch {
	case p.Pause && (row.Mission == "" || !row.TurnOpen || p.Delivery != pawl.DeliverSteer || p.Approve != nil):
		return fault.New(pawl.ErrInvalid, "session %s is not a running mission that a steering prompt could pause", row.ID).Hint("Run `pawl mission list` to see all missions.")
	case p.Approve == nil:
		return nil
	case row.Mission == "":
		return fault.New(pawl.ErrInvalid, "session %s has no mission whose plan could be approved", row.ID).Hint("Run `pawl mission list` to see all missions.")
	case p.Delivery != pawl.DeliverNow || row.State() != pawl.StateIdle:
		return &pawl.BusyError{Session: row.ID}
	}
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] {
		return upTo(s.Store.Events(ctx, row.ID, after), row.Head, func(pawl.Event) {})
	})
	if err != nil {
		return fmt.Errorf("read log of %s: %w", row.ID, err)
	}
	return h.Mission().TryApprove(*p.Approve)
}

// upTo yields the events of a log up to a Seq, and passes each to show first.
func upTo(events iter.Seq2[pawl.Event, error], last pawl.Seq, show func(pawl.Event)) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for e, err := range events {
			if e.Seq > last {
				return
			}
			if err == nil {
				show(e)
			}
			if !yield(e, err) || err != nil || e.Seq == last {
				return
			}
		}
	}
}

// team returns the workers and reviewers that exist. An imported log may name any session: only those
// whose parent is the mission belong to the team.
func (s *Service) team(ctx context.Context, id pawl.SessionID, m *pawl.Mission) ([]pawl.Session, error) {
	team := []pawl.Session{}
	for _, member := range m.Team {
		row, err := s.Store.Session(ctx, member)
		switch {
		case errors.Is(err, pawl.ErrNotFound): // it was not created yet, or was deleted
		case err != nil:
			return nil, err
		case row.Parent == id:
			team = append(team, row)
		}
	}
	return team, nil
}
