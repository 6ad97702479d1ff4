// Package status is the last line of the screen: what pawl works with and on, how
// full the window is, what it cost. It is one line, however narrow the screen.
package status

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Now is what others know better.
type Now struct {
	Settings pawl.Settings // of the work that is under way or, without, of the next prompt
	Next     string        // the mode of the next prompt
	Folder   pawl.Project
	Reply    pawl.Usage // of the newest reply: how full the window is
	Away     bool       // the end of the conversation is not seen
	Queued   int        // prompts that wait
	Mission  string     // how far it is; "" if none exists
}

// Line is the status line.
type Line struct {
	shared *ui.Shared
	now    func() time.Time

	session pawl.Session // as it was when it was opened, with what was used since
	head    pawl.Seq     // the newest event that is counted in it
	working bool
	since   time.Time // when the turn began; zero means that nobody knows
	tasks   map[pawl.SessionID]bool
	models  map[string]pawl.ModelInfo
	asked   string // the model for which the models were last asked for

	frame   int
	ticking bool
}

// New returns the line of an empty session.
func New(s *ui.Shared) *Line {
	return &Line{shared: s, now: time.Now, tasks: map[pawl.SessionID]bool{}}
}

// Open begins with a session, as its row and its newest events tell.
func (l *Line) Open(s pawl.Session, events []pawl.Event) {
	l.session, l.head, l.working, l.since = s, s.Head, s.TurnOpen, time.Time{}
	clear(l.tasks)
	for _, e := range events {
		l.Apply(e)
	}
}

// Apply takes an event.
func (l *Line) Apply(e pawl.Event) {
	if e.Seq > l.head {
		l.head = e.Seq
		spent, _ := e.ModelUsage()
		l.session.Usage = l.session.Usage.Add(spent.Usage)
	}
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		l.working, l.since = true, e.At
	case pawl.TurnFinished:
		l.working = false
	case pawl.Status:
		if b.State == "interrupted" {
			l.working = false // nobody works on it
		}
	case pawl.Spawned:
		if b.Background {
			l.tasks[b.Subagent] = true
		}
	case pawl.Injected:
		delete(l.tasks, b.Subagent)
	default: // changes nothing that is shown
	}
}

// frameTime is how long a picture of the spinner stays.
const frameTime = 250 * time.Millisecond

// tickMsg is that the spinner turns.
type tickMsg struct{ line *Line }

// modelsMsg are the models that can be asked.
type modelsMsg struct{ list []pawl.ModelInfo }

// Clock is a command that turns the spinner while there is work. It is nil when
// none exists, or when it turns already.
func (l *Line) Clock() tea.Cmd {
	if l.ticking || !l.working {
		return nil
	}
	l.ticking = true
	return tea.Tick(frameTime, func(time.Time) tea.Msg { return tickMsg{l} })
}

// Know has the models asked for, once for each that is used: how large their
// windows are is with them. Without a project that stays unknown.
func (l *Line) Know(model string) tea.Cmd {
	if _, known := l.models[model]; known || model == "" || model == l.asked {
		return nil
	}
	l.asked = model
	svc, ctx := l.shared.Service, l.shared.Context
	return func() tea.Msg {
		list, err := svc.Models(ctx)
		if err != nil {
			return nil // the picker of models says why
		}
		return modelsMsg{list}
	}
}

// Update takes a message. It reports whether it was for the line.
func (l *Line) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tickMsg:
		if m.line != l {
			return nil, true
		}
		l.ticking = false
		l.frame++
		return l.Clock(), true
	case modelsMsg:
		l.models = make(map[string]pawl.ModelInfo, len(m.list))
		for _, info := range m.list {
			l.models[info.Ref] = info
		}
		return nil, true
	default:
		return nil, false
	}
}
