package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// A dialog takes keys only after it has been visible, with no key pressed, for all steps but the one
// that had begun: for at least 400 ms. A single long timer would not do: if the process was suspended
// or the terminal blocked, the timer fires at once, and the keys pressed meanwhile arrive right after
// it.
const (
	settleSteps   = 5
	settleStep    = 100 * time.Millisecond
	maxSettleStep = time.Second // a step that took longer does not count: the process was suspended
)

// Lock keeps keys that were pressed for something else from answering a dialog.
type Lock struct {
	left    int
	round   int
	drawn   bool
	engaged bool // the user gave the dialog the keyboard
	draft   bool // the composer has a draft
	ordered time.Time
	now     func() time.Time
}

// settledMsg is the end of a step.
type settledMsg struct {
	lock  *Lock
	round int
}

// NewLock returns a lock that was not started.
func NewLock() *Lock { return &Lock{now: time.Now} }

// Drawn records that the dialog was drawn; steps count from then on.
func (l *Lock) Drawn() { l.drawn = true }

// Shut starts the lock.
func (l *Lock) Shut() tea.Cmd {
	l.drawn = false
	return l.restart()
}

func (l *Lock) restart() tea.Cmd {
	l.left, l.engaged = settleSteps, false
	l.round++
	return l.step()
}

func (l *Lock) step() tea.Cmd {
	l.ordered = l.now()
	msg := settledMsg{l, l.round}
	return tea.Tick(settleStep, func(time.Time) tea.Msg { return msg })
}

// Settled handles the end of a step. It reports whether msg is one.
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
	case l.now().Sub(l.ordered) > maxSettleStep:
		l.left = settleSteps
	case l.drawn:
		l.left--
	}
	if l.left == 0 {
		return nil
	}
	return l.step()
}

// Takes reports whether a key is accepted. A key that comes too early restarts the
// lock.
func (l *Lock) Takes() bool {
	if l.left > 0 {
		l.left = settleSteps
		return false
	}
	return l.drawn
}

// Open reports whether keys are accepted now.
func (l *Lock) Open() bool { return l.left == 0 }

// focused reports whether the dialog has the keyboard. While the composer has a draft, the pause is not
// enough.
func (l *Lock) focused() bool { return l.Open() && (l.engaged || !l.draft) }

// engage gives the dialog the keyboard at once, if it is visible.
func (l *Lock) engage() {
	if l.drawn {
		l.left, l.engaged = 0, true
	}
}

// touch records a key for something else: the pause begins again.
func (l *Lock) touch() tea.Cmd {
	if l.left > 0 {
		l.left = settleSteps
		return nil
	}
	return l.restart()
}
