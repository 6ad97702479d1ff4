package subagents

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Mission is the mission that the session on the screen commands, if it does. It is
// read anew after events that change it: one reading at a time, with a pause between.
type Mission struct {
	shared  *ui.Shared
	session pawl.SessionID // "" if the session is no mission's

	board  *pawl.Board    // nil until it is read
	budget *pawl.Settings // of the newest prompt; nil if nobody knows it
	fault  string

	opened int       // how often a session was opened
	asked  bool      // it is being read, or was just now
	again  bool      // it has changed meanwhile
	at     time.Time // when it was last read

	ctx    context.Context //nolint:containedctx // of the session that is shown
	cancel context.CancelFunc
}

// NewMission returns that of no session.
func NewMission(s *ui.Shared) *Mission {
	m := &Mission{shared: s}
	m.Open(pawl.Session{}, nil)
	return m
}

// Open forgets all, and takes another session with its newest events.
func (m *Mission) Open(s pawl.Session, events []pawl.Event) tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	own, cancel := context.WithCancel(m.shared.Context)
	*m = Mission{shared: m.shared, opened: m.opened + 1, ctx: own, cancel: cancel}
	if s.Mission == "" {
		return nil
	}
	m.session = s.ID
	for _, e := range events {
		m.take(e)
	}
	return m.read()
}

// On reports whether the session is a mission's.
func (m *Mission) On() bool { return m.session != "" }

// Apply takes an event of the session.
func (m *Mission) Apply(e pawl.Event) tea.Cmd {
	if !m.On() || !m.take(e) {
		return nil
	}
	if m.asked {
		m.again = true
		return nil
	}
	return m.read()
}

// take takes what an event says, and reports whether the board may be another now.
func (m *Mission) take(e pawl.Event) bool {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		m.budget = &b.Settings
		return true
	case pawl.TurnStarted, pawl.TurnFinished, pawl.Replied, pawl.Status:
		return true
	default:
		line, _ := humanize.Mission(e.Body)
		return line != ""
	}
}

// boardMsg is the mission as it was read.
type boardMsg struct {
	mission *Mission
	opened  int
	board   pawl.Board
	budget  *pawl.Settings // of the first prompt, if it was asked for
	err     error
}

// pausedMsg is that the mission may be read again.
type pausedMsg struct {
	mission *Mission
	opened  int
}

// How it is read: the first prompt of a mission is among its first events.
const (
	readPause   = 500 * time.Millisecond
	readAfter   = 5 * time.Second // though nothing has come: workers spend and end
	firstEvents = 3
)

func (m *Mission) read() tea.Cmd {
	m.asked, m.again = true, false
	svc, ctx, id, opened, first := m.shared.Service, m.ctx, m.session, m.opened, m.budget == nil
	return func() tea.Msg {
		msg := boardMsg{mission: m, opened: opened}
		if msg.board, msg.err = svc.Mission(ctx, id); msg.err == nil && first {
			msg.budget, msg.err = firstSettings(ctx, svc, id)
		}
		return msg
	}
}

// refresh reads it if that was long ago.
func (m *Mission) refresh(now time.Time) tea.Cmd {
	if !m.On() || m.asked || now.Sub(m.at) < readAfter {
		return nil
	}
	return m.read()
}

// firstSettings are those of a mission's first prompt. What is spent is held against
// them, unless a later one is known.
func firstSettings(ctx context.Context, svc pawl.Service, id pawl.SessionID) (*pawl.Settings, error) {
	events, err := eventfeed.Page(ctx, svc, id, 0, firstEvents)
	for _, e := range events {
		if b, ok := e.Body.(pawl.Prompted); ok {
			return &b.Settings, nil
		}
	}
	return nil, err
}

// Update takes what was read. It reports whether it was that.
func (m *Mission) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch r := msg.(type) {
	case boardMsg:
		if r.mission != m || r.opened != m.opened {
			return nil, true
		}
		return m.known(r), true
	case pausedMsg:
		if r.mission != m || r.opened != m.opened {
			return nil, true
		}
		if m.asked = false; !m.again {
			return nil, true
		}
		return m.read(), true
	default:
		return nil, false
	}
}

func (m *Mission) known(r boardMsg) tea.Cmd {
	if r.err != nil {
		m.fault = fmt.Sprintf("the mission cannot be read: %v", r.err)
	} else {
		m.fault, m.board = "", &r.board
	}
	if m.budget == nil {
		m.budget = r.budget
	}
	m.at = time.Now()
	opened := m.opened
	return tea.Tick(readPause, func(time.Time) tea.Msg { return pausedMsg{m, opened} })
}

// Short says how far the mission is, for the status line; "" if none exists.
func (m *Mission) Short() string {
	switch {
	case !m.On():
		return ""
	case m.board == nil:
		return "mission"
	case m.board.State == pawl.MissionWorking:
		done, all := m.count()
		return fmt.Sprintf("mission %d/%d", done, all)
	}
	return "mission " + string(m.board.State)
}

// count is how many tasks are merged, of how many in the plan.
func (m *Mission) count() (merged, all int) {
	for _, t := range m.board.Mission.Tasks {
		switch t.Phase {
		case pawl.PhaseDropped:
			continue
		case pawl.PhaseMerged:
			merged++
		case pawl.PhasePlanned, pawl.PhaseQueued, pawl.PhaseRunning, pawl.PhaseReturned:
		}
		all++
	}
	return merged, all
}
