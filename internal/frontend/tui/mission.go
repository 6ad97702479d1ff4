package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/subagents"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Reasons why there is no mission.
var (
	errNoGoal    = fault.New(pawl.ErrInvalid, "a mission needs a goal").Hint("For example: `/mission all tests pass on Windows`.")
	errNoMission = fault.New(pawl.ErrInvalid, "this session is not a mission").Hint("Start one with `/mission GOAL`.")
)

// startMission starts a mission and opens its session.
func (a *app) startMission(goal string) tea.Cmd {
	if goal == "" {
		return ui.Send(ui.Failed{Err: errNoGoal})
	}
	settings := a.settings
	settings.Agent = "" // the mission chooses the agent
	svc, ctx, dir := a.shared.Service, a.shared.Context, a.dir()
	return func() tea.Msg {
		s, err := svc.StartMission(ctx, pawl.NewMission{Dir: dir, Order: pawl.MissionOrder{Goal: goal}, Settings: settings})
		if err != nil && s.ID == "" {
			return ui.Failed{Err: err}
		}
		return startedMsg{s.ID, err}
	}
}

// startedMsg is a mission that was started; err is a warning about it.
type startedMsg struct {
	id  pawl.SessionID
	err error
}

// missionStarted opens the session of a mission.
func (a *app) missionStarted(m startedMsg) tea.Cmd {
	if m.err != nil {
		return tea.Batch(a.open(m.id), ui.Send(ui.Failed{Err: m.err}))
	}
	return a.open(m.id)
}

// showBoard opens the mission board.
func (a *app) showBoard() tea.Cmd {
	if !a.mission.On() {
		return ui.Send(ui.Failed{Err: errNoMission})
	}
	return ui.Send(ui.Open{Dialog: subagents.NewBoard(a.shared, a.mission)})
}

// refreshBoard updates the board after the mission was loaded.
func (a *app) refreshBoard() tea.Cmd {
	for _, d := range a.dialogs {
		if b, ok := d.(*subagents.Board); ok {
			return b.Shown()
		}
	}
	return nil
}
