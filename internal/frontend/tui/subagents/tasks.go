// Package subagents shows the subagents, background commands and mission of a session.
package subagents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/humanize"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Task is a subagent, as the parent's log shows it.
type Task struct {
	ID         pawl.SessionID
	Title      string
	Agent      string // "" if it was started before the oldest known event
	Call       pawl.CallID
	Background bool
	Work       string // in a mission: the task of the plan that it works on
	Began      time.Time
	Over       bool
}

// Tasks tracks the subagents of a session by its events.
type Tasks struct {
	shared  *ui.Shared
	session pawl.SessionID
	list    []*Task           // oldest first
	titles  map[string]string // of the tasks in a mission's plan
	jobs    jobs

	ctx    context.Context //nolint:containedctx // of the session that is shown
	cancel context.CancelFunc

	now     time.Time // time of the last tick
	ticking bool
}

// New returns the state without a session.
func New(s *ui.Shared) *Tasks {
	t := &Tasks{shared: s}
	t.Open("", nil)
	return t
}

// Tick is a tick of the clock, which runs while a subagent works.
type Tick struct {
	tasks *Tasks
	at    time.Time
}

// rowsOf lists the last subagents of a session.
type rowsOf struct {
	session pawl.SessionID
	rows    []pawl.Session
}

// Open resets the state for another session.
func (t *Tasks) Open(id pawl.SessionID, events []pawl.Event) tea.Cmd {
	if t.cancel != nil {
		t.cancel()
	}
	t.ctx, t.cancel = context.WithCancel(t.shared.Context)
	t.session, t.list, t.titles, t.jobs = id, nil, map[string]string{}, jobs{}
	for _, e := range events {
		t.take(e)
	}
	if id == "" {
		return nil
	}
	return tea.Batch(t.loadSubagents(), t.clock())
}

// loadSubagents reads the state of the subagents: the parent's log reports late that a
// background subagent has finished, and does not mention it if it started long ago.
func (t *Tasks) loadSubagents() tea.Cmd {
	ctx, svc, id := t.ctx, t.shared.Service, t.session
	return func() tea.Msg {
		rows, err := svc.List(ctx, pawl.Filter{Parent: id})
		if err != nil {
			return nil // later events tell the rest
		}
		return rowsOf{id, rows}
	}
}

// Apply applies an event of the session.
func (t *Tasks) Apply(e pawl.Event) tea.Cmd {
	t.take(e)
	return t.clock()
}

func (t *Tasks) take(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Spawned:
		t.list = append(t.list, &Task{ID: b.Subagent, Title: b.Title, Agent: b.Agent, Call: b.Call, Background: b.Background, Began: e.At})
		t.forget()
	case pawl.CallFinished:
		t.end(func(k *Task) bool { return k.Call == b.Call && !k.Background })
	case pawl.Injected:
		t.end(func(k *Task) bool { return b.Subagent != "" && k.ID == b.Subagent })
	case pawl.TurnFinished:
		t.end(func(*Task) bool { return true }) // no turn ends before its subagents
	default:
		t.takeMission(e)
	}
	t.jobs.take(e)
}

// takeMission applies the events of a mission: its workers are background subagents.
func (t *Tasks) takeMission(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Planned:
		for _, k := range b.Plan.Tasks {
			t.titles[k.ID] = k.Title
		}
	case pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		work := &Task{ID: c.Subagent, Title: c.Title, Agent: c.Agent, Background: true, Began: e.At}
		if started, ok := b.(pawl.TaskStarted); ok {
			work.Work, work.Title = started.Task, strings.TrimSpace(started.Task+" "+t.titles[started.Task])
		}
		t.list = append(t.list, work)
		t.forget()
	case pawl.TaskMerged:
		t.end(func(k *Task) bool { return k.Work == b.Task })
	case pawl.TaskReturned:
		t.end(func(k *Task) bool { return k.Work == b.Task })
	case pawl.Reviewed:
		t.end(func(k *Task) bool { return k.ID == b.Reviewer })
	default:
	}
}

func (t *Tasks) end(which func(*Task) bool) {
	for _, k := range t.list {
		k.Over = k.Over || which(k)
	}
}

// maxTasks bounds how many finished ones are kept.
const maxTasks = 100

func (t *Tasks) forget() {
	over := len(t.list) - len(t.Working()) - maxTasks
	if over <= 0 {
		return
	}
	t.list = slices.DeleteFunc(t.list, func(k *Task) bool {
		if over > 0 && k.Over {
			over--
			return true
		}
		return false
	})
}

// Working returns the working subagents, oldest first.
func (t *Tasks) Working() []*Task {
	return slices.DeleteFunc(slices.Clone(t.list), func(k *Task) bool { return k.Over })
}

// Find returns a subagent, or nil.
func (t *Tasks) Find(id pawl.SessionID) *Task {
	if i := slices.IndexFunc(t.list, func(k *Task) bool { return k.ID == id }); i >= 0 {
		return t.list[i]
	}
	return nil
}

// Update handles results and ticks. It reports whether msg is one.
func (t *Tasks) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case rowsOf:
		if m.session == t.session {
			t.known(m.rows)
		}
		return t.clock(), true
	case Tick:
		if m.tasks != t {
			return nil, true
		}
		t.ticking, t.now = false, m.at
		return tea.Batch(t.clock(), t.lookAgain()), true
	default:
		return nil, false
	}
}

// lookAgain polls while a background subagent works.
func (t *Tasks) lookAgain() tea.Cmd {
	if slices.ContainsFunc(t.list, func(k *Task) bool { return k.Background && !k.Over }) {
		return t.loadSubagents()
	}
	return nil
}

// known applies the subagents' rows.
func (t *Tasks) known(rows []pawl.Session) {
	for _, row := range rows {
		works := row.State() != pawl.StateIdle
		switch k := t.Find(row.ID); {
		case k != nil: // one that was just created is idle too
			k.Over = k.Over || !works && row.Turns > 0
		case works:
			t.list = append(t.list, &Task{ID: row.ID, Title: row.Name(), Background: true, Began: row.Created})
		}
	}
	slices.SortFunc(t.list, func(a, b *Task) int { return strings.Compare(string(a.ID), string(b.ID)) })
}

// clock ticks while a subagent works.
func (t *Tasks) clock() tea.Cmd {
	if t.ticking || len(t.Working()) == 0 {
		return nil
	}
	t.ticking, t.now = true, time.Now()
	return tea.Tick(time.Second, func(at time.Time) tea.Msg { return Tick{t, at} })
}

// Line lists the working subagents on one line, or returns "".
func (t *Tasks) Line(width int) string {
	working := t.Working()
	if len(working) == 0 {
		return ""
	}
	s := t.shared.Styles
	head := "1 subagent working: "
	if n := len(working); n > 1 {
		head = fmt.Sprintf("%d subagents working: ", n)
	}
	var names []string
	for _, k := range working {
		names = append(names, fmt.Sprintf("%s (%s)", sanitize.Line(k.Title), elapsed(t.now.Sub(k.Began))))
	}
	tail := ""
	if key := t.shared.Keys.Key(keys.Tasks); key != "" {
		tail = " · " + key
	}
	available := max(0, width-1-len(head)-ansi.StringWidth(tail))
	return ansi.Truncate(" "+s.Accent.Render(head)+s.Muted.Render(ansi.Truncate(strings.Join(names, ", "), available, "…")+tail), width, "…")
}

// elapsed formats a duration in whole seconds.
func elapsed(d time.Duration) string {
	if d = max(0, d); d < 10*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return humanize.Took(d)
}
