package tui

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// TestMission: a goal begins a mission and its session is shown; there is a board,
// and the status line says how far it is. A new session has neither.
func TestMission(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t, `{"text":"I am at it","fault":"hang"}`)
	s.settings.Agent = "plan" // of the next prompts, and none for a mission
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.typed("hello\r")
	s.until("a session is there", func() bool { return s.session.ID != "" && s.view.Log.Working() })
	before := s.session.ID

	s.typed("/mission All tests pass.\r")
	s.until("the mission is shown", func() bool { return s.session.ID != before && s.session.Mission == pawl.MissionWorking })
	s.until("its goal and state are seen", s.shows("goal: All tests pass.", "┃ All tests pass.", "mission 0/0"))
	row, err := s.shared.Service.Get(t.Context(), s.session.ID)
	if err != nil || row.Dir != s.shared.Dir || row.Mission != pawl.MissionWorking {
		t.Errorf("%+v, %v", row, err)
	}

	s.give(tea.KeyPressMsg{Code: 'm', Mod: tea.ModAlt})
	s.until("the board is seen", s.shows("╭─ Mission", "working · 0 of 0 merged", "no plan yet", "0 tokens"))
	s.press("esc")
	s.until("it works", func() bool { return s.view.Log.Working() })
	s.start(s.interrupt(false))
	s.until("it is said that nobody works on it", s.shows("mission stopped"))
	s.typed("/board\r")
	s.until("the board says why", s.shows("stopped: canceled", "send a prompt to continue"))
	s.press("esc")

	s.press("ctrl+n")
	s.until("a new session is there", func() bool { return s.session.ID == "" })
	if s.mission.On() || s.shows("mission stopped")() {
		t.Error("the mission is still on the screen")
	}
	if failed, ok := s.showBoard()().(ui.Failed); !ok || !errors.Is(failed.Err, errNoMission) {
		t.Error("there is a board without a mission")
	}
}

// TestMissionGoal: without a goal it is said how; a failure leaves the session as it is.
func TestMissionGoal(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, name := range []string{"mission", "task"} {
		s := newScreen(t)
		s.give(tea.WindowSizeMsg{Width: 100, Height: 24})
		s.typed("/" + name + "\r") // takes what is offered
		s.typed("\r")
		s.until("it is said how", s.shows("a mission needs a goal"))
		s.press("esc")
		s.settings.Model = "nobody:x"
		s.typed("/" + name + " go\r")
		s.until("it is said why not", s.shows("nobody"))
		if s.session.ID != "" {
			t.Error("another session is shown")
		}
	}
}
