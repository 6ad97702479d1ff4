package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/weak"
)

// A dialog takes no answer until it has been on the screen, and no key has come,
// for so many steps. One long wait would not do: after the program was stopped, or
// its terminal was stuck, such a wait is over at once, and the keys that piled up
// meanwhile come right behind it.
const (
	settleSteps = 4
	settleStep  = 120 * time.Millisecond
	stuck       = time.Second // a step that took so long is no step
)

// lock keeps keys that were pressed for something else from answering.
type lock struct {
	left    int
	round   int
	drawn   bool
	ordered time.Time
	now     func() time.Time
}

// settledMsg is that a step is over.
type settledMsg struct {
	lock  *lock
	round int
}

// shut begins to wait.
func (l *lock) shut() tea.Cmd {
	l.left, l.drawn = settleSteps, false
	l.round++
	return l.step()
}

func (l *lock) step() tea.Cmd {
	l.ordered = l.now()
	msg := settledMsg{l, l.round}
	return tea.Tick(settleStep, func(time.Time) tea.Msg { return msg })
}

// settled takes a step.
func (l *lock) settled(m settledMsg) tea.Cmd {
	if m.lock != l || m.round != l.round || l.left == 0 {
		return nil
	}
	switch {
	case l.now().Sub(l.ordered) > stuck:
		l.left = settleSteps
	case l.drawn:
		l.left--
	}
	if l.left == 0 {
		return nil
	}
	return l.step()
}

// takes reports whether a key counts. One that comes too early makes the wait
// begin anew.
func (l *lock) takes() bool {
	if weak.On("ask.dwell") {
		return true
	}
	if l.left > 0 {
		l.left = settleSteps
		return false
	}
	return l.drawn
}

// open reports whether keys count now.
func (l *lock) open() bool { return l.left == 0 }
