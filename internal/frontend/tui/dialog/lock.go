package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"
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

// Lock keeps keys that were pressed for something else from answering.
type Lock struct {
	left    int
	round   int
	drawn   bool
	ordered time.Time
	now     func() time.Time
}

// settledMsg is that a step is over.
type settledMsg struct {
	lock  *Lock
	round int
}

// NewLock returns one that was not shut yet.
func NewLock() *Lock { return &Lock{now: time.Now} }

// Drawn is called when the dialog is drawn: from then on the time counts.
func (l *Lock) Drawn() { l.drawn = true }

// Shut begins to wait.
func (l *Lock) Shut() tea.Cmd {
	l.left, l.drawn = settleSteps, false
	l.round++
	return l.step()
}

func (l *Lock) step() tea.Cmd {
	l.ordered = l.now()
	msg := settledMsg{l, l.round}
	return tea.Tick(settleStep, func(time.Time) tea.Msg { return msg })
}

// Settled takes the message that a step is over. It reports whether it was that.
func (l *Lock) Settled(msg tea.Msg) (tea.Cmd, bool) {
	m, ok := msg.(settledMsg)
	if !ok {
		return nil, false
	}
	return l.settled(m), true
}

func (l *Lock) settled(m settledMsg) tea.Cmd {
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

// Takes reports whether a key counts. One that comes too early makes the wait
// begin anew.
func (l *Lock) Takes() bool {
	if l.left > 0 {
		l.left = settleSteps
		return false
	}
	return l.drawn
}

// Open reports whether keys count now.
func (l *Lock) Open() bool { return l.left == 0 }
