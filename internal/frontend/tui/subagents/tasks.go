// Package subagents shows the subagents, background commands and mission of a session.
package subagents

import (
	"cmp"
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
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Task is a subagent, as the parent's log shows it.
type Task struct {
	ID         pawl.SessionID
	Title      string
	Agent      string // "" if it was started before the oldest known event
	Background bool
	mission    bool   // it is a worker or reviewer of a mission
	work       string // the task of the plan that it works on
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
	t.Open("", nil, nil)
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

// Open resets the state for another session, of which events and items are known.
func (t *Tasks) Open(id pawl.SessionID, events []pawl.Event, items []transcript.Item) tea.Cmd {
	if t.cancel != nil {
		t.cancel()
	}
	t.ctx, t.cancel = context.WithCancel(t.shared.Context)
	t.session, t.list, t.titles, t.jobs = id, nil, map[string]string{}, jobs{}
	t.items(items)
	for _, e := range events {
		t.takeMission(e)
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
		return rowsOf{id, rows.Sessions}
	}
}

// Apply applies an event of the session, and the items that it changed.
func (t *Tasks) Apply(e pawl.Event, items []transcript.Item) tea.Cmd {
	t.items(items)
	t.takeMission(e)
	return t.clock()
}

func (t *Tasks) items(items []transcript.Item) {
	for _, it := range items {
		switch it.Kind { //nolint:exhaustive // the others are not about subagents
		case transcript.KindSubagent:
			k := t.Find(it.Subagent.Subagent)
			if k == nil {
				k = t.add(Task{Background: it.Subagent.Background}, *it.Subagent, it.At)
			}
			k.Over = k.Over || it.State == transcript.StateDone
		case transcript.KindCall:
			t.jobs.call(it)
		}
	}
}

func (t *Tasks) add(k Task, s pawl.Spawned, at time.Time) *Task {
	k.ID, k.Agent, k.Began = s.Subagent, s.Agent, at
	k.Title = cmp.Or(k.Title, s.Title)
	t.list = append(t.list, &k)
	t.forget()
	return &k
}

// takeMission applies the events of a mission: its workers are background subagents.
func (t *Tasks) takeMission(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Planned:
		for _, k := range b.Plan.Tasks {
			t.titles[k.ID] = k.Title
		}
	case pawl.TaskStarted, pawl.ReviewStarted:
		s, _ := e.Subagent()
		k := Task{Background: true, mission: true}
		if started, ok := b.(pawl.TaskStarted); ok {
			k.work, k.Title = started.Task, strings.TrimSpace(started.Task+" "+t.titles[started.Task])
		}
		t.add(k, s, e.At)
	case pawl.TaskMerged:
		t.end(func(k *Task) bool { return k.work == b.Task })
	case pawl.TaskReturned:
		t.end(func(k *Task) bool { return k.work == b.Task })
	case pawl.Reviewed:
		t.end(func(k *Task) bool { return k.ID == b.Reviewer })
	case pawl.TurnFinished:
		t.end(func(k *Task) bool { return k.mission }) // no turn ends before its subagents
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

// Background returns how many subagents work in the background, without those of a
// mission.
func (t *Tasks) Background() int {
	n := 0
	for _, k := range t.list {
		if k.Background && !k.mission && !k.Over {
			n++
		}
	}
	return n
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
