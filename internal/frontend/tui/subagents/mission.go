package subagents

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Mission is the mission of the open session, if it has one. It is read again after
// events that change it: one read at a time, with a pause between.
type Mission struct {
	shared  *ui.Shared
	session pawl.SessionID // "" if the session has no mission

	board  *pawl.Board    // nil until it was read
	budget *pawl.Settings // of the last prompt; nil means unknown
	fault  string

	opened int       // how many sessions were opened
	asked  bool      // it is being read, or was just read
	again  bool      // it has changed meanwhile
	at     time.Time // when it was read last

	ctx    context.Context //nolint:containedctx // of the session that is shown
	cancel context.CancelFunc
}

// NewMission returns the state without a session.
func NewMission(s *ui.Shared) *Mission {
	m := &Mission{shared: s}
	m.Open(pawl.Session{}, nil)
	return m
}

// Open resets the state for another session.
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

// On reports whether the session has a mission.
func (m *Mission) On() bool { return m.session != "" }

// Apply applies an event of the session.
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

// take applies an event, and reports whether the board may have changed.
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

// boardMsg is the result of reading the mission.
type boardMsg struct {
	mission *Mission
	opened  int
	board   pawl.Board
	budget  *pawl.Settings // of the first prompt, if it was requested
	err     error
}

// pausedMsg ends the pause between reads.
type pausedMsg struct {
	mission *Mission
	opened  int
}

// How the mission is read. Its first prompt is among its first events.
const (
	readPause   = 500 * time.Millisecond
	readAfter   = 5 * time.Second // even without events: workers spend and finish
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

// refresh reads the mission if the last read was long ago.
func (m *Mission) refresh(now time.Time) tea.Cmd {
	if !m.On() || m.asked || now.Sub(m.at) < readAfter {
		return nil
	}
	return m.read()
}

// firstSettings returns the settings of a mission's first prompt. The cost is compared
// with its limits, unless a later prompt is known.
func firstSettings(ctx context.Context, svc pawl.Service, id pawl.SessionID) (*pawl.Settings, error) {
	events, err := eventfeed.Page(ctx, svc, id, 0, firstEvents)
	for _, e := range events {
		if b, ok := e.Body.(pawl.Prompted); ok {
			return &b.Settings, nil
		}
	}
	return nil, err
}

// Update handles the results of reads. It reports whether msg is one.
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
		m.fault = "load the mission: " + fault.Text(r.err)
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

// Short returns the progress for the status line, or "".
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

// count returns how many tasks are merged, and how many the plan has.
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
