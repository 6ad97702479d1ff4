package tui

import (
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// still is a program that draws nothing new.
type still struct {
	program *tea.Program
	frames  frameLimiter
	rested  []bool // whether frames were rare when a message came
}

func (s *still) Init() tea.Cmd { return nil }

func (s *still) View() tea.View { return tea.NewView("still") }

func (s *still) Update(tea.Msg) (tea.Model, tea.Cmd) {
	s.frames.mu.Lock()
	s.rested = append(s.rested, s.frames.slow)
	s.frames.mu.Unlock()
	s.frames.activity(s.program)
	return s, nil
}

// The library's ticker is found, or pawl would wake sixty times a second with
// nothing to do; frames are rare while nothing moves, and not when something does.
func TestFrames(t *testing.T) {
	t.Parallel()
	s := &still{}
	s.program = tea.NewProgram(s, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutSignals(), tea.WithWindowSize(80, 24))
	ended := make(chan error, 1)
	go func() {
		_, err := s.program.Run()
		ended <- err
	}()
	rests := func() bool {
		s.frames.mu.Lock()
		defer s.frames.mu.Unlock()
		return s.frames.slow
	}
	s.program.Send("something")
	wait.Until(t, "nothing moves, so frames are rare, if the library's ticker was found", rests)
	s.program.Send("something else")
	s.program.Quit()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if last := s.rested[len(s.rested)-1]; !last {
		t.Errorf("frames were not rare when the last message came: %v", s.rested)
	}
	if rests() {
		t.Error("frames are rare although something has just moved")
	}
}
