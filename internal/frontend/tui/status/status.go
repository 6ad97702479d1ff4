// Package status draws the status line: model, mode, directory, context window, cost.
// It is one line, however narrow the screen.
package status

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Now is the state that the app provides.
type Now struct {
	Settings pawl.Settings // of the running turn or, without one, of the next prompt
	Next     string        // the mode of the next prompt
	Folder   pawl.Project
	Reply    pawl.Usage // of the last reply, which shows how full the context window is
	Away     bool       // the end of the conversation is not visible
	Queued   int        // waiting prompts
	Tasks    int        // subagents that work in the background
	Mission  string     // its progress; "" without a mission
	Isolated bool       // the session works on a view of the project
}

// Line is the status line.
type Line struct {
	shared *ui.Shared
	now    func() time.Time

	session pawl.Session // as it was when opened, with the usage since
	head    pawl.Seq     // the last event that is included
	working bool
	since   time.Time // when the turn started; zero means unknown
	models  map[string]pawl.ModelInfo
	asked   string // the model for which the list of models was last requested

	frame   int
	ticking bool
}

// New returns the line of an empty session.
func New(s *ui.Shared) *Line {
	return &Line{shared: s, now: time.Now}
}

// Open resets the line for a session.
func (l *Line) Open(s pawl.Session, events []pawl.Event) {
	l.session, l.head, l.working, l.since = s, s.Head, s.TurnOpen, time.Time{}
	for _, e := range events {
		l.Apply(e)
	}
}

// Apply applies an event.
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
	default: // not shown
	}
}

// frameTime is the interval of the spinner.
const frameTime = 250 * time.Millisecond

// tickMsg is a tick of the spinner.
type tickMsg struct{ line *Line }

// modelsMsg are the available models.
type modelsMsg struct{ list []pawl.ModelInfo }

// Clock returns a command that turns the spinner while a turn is running; nil if none
// is, or if it turns already.
func (l *Line) Clock() tea.Cmd {
	if l.ticking || !l.working {
		return nil
	}
	l.ticking = true
	return tea.Tick(frameTime, func(time.Time) tea.Msg { return tickMsg{l} })
}

// Know requests the models, once per model in use, to learn the size of its context
// window.
func (l *Line) Know(model string) tea.Cmd {
	if _, known := l.models[model]; known || model == "" || model == l.asked {
		return nil
	}
	l.asked = model
	svc, ctx := l.shared.Service, l.shared.Context
	return func() tea.Msg {
		list, err := svc.Models(ctx)
		if err != nil {
			return nil // the model picker shows the error
		}
		return modelsMsg{list}
	}
}

// rowMsg is the session's row, read again.
type rowMsg struct{ row pawl.Session }

// Refresh reads the session's row again: its events do not tell what its subagents use.
func (l *Line) Refresh() tea.Cmd {
	svc, ctx, id := l.shared.Service, l.shared.Context, l.session.ID
	if id == "" {
		return nil
	}
	return func() tea.Msg {
		row, err := svc.Get(ctx, id)
		if err != nil {
			return nil // it is read again
		}
		return rowMsg{row}
	}
}

// refreshed takes the usage of a row, unless events were applied that it does not include.
func (l *Line) refreshed(row pawl.Session) {
	if row.ID == l.session.ID && row.Head >= l.head {
		l.session.Usage, l.head = row.Usage, row.Head
	}
}

// Update handles a message. It reports whether msg was for the line.
func (l *Line) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tickMsg:
		if m.line != l {
			return nil, true
		}
		l.ticking = false
		l.frame++
		return l.Clock(), true
	case rowMsg:
		l.refreshed(m.row)
		return nil, true
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
