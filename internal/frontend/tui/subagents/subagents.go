package subagents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Limits of the list, and of what is read of each log.
const (
	maxRows    = 50
	tailEvents = 30
)

// row is a listed subagent.
type row struct {
	session pawl.Session // its ID is "" until it exists
	tail    tail
	feed    *eventfeed.Feed // while it works
}

// follow shows the end of its log, and new events if it works.
func (r *row) follow(ctx context.Context, svc pawl.Service, events []pawl.Event) tea.Cmd {
	for _, e := range events {
		r.tail.apply(e, true)
	}
	if _, works := r.tail.state(r.session); !works || ctx.Err() != nil {
		return nil
	}
	r.feed = eventfeed.Watch(ctx, svc, r.session.ID, r.session.Head)
	return r.feed.Next(time.Time{})
}

// hear applies new events.
func (r *row) hear(m eventfeed.News) tea.Cmd {
	for _, e := range m.Events {
		r.tail.apply(e, false)
	}
	if _, works := r.tail.state(r.session); !works || m.Err != nil {
		r.feed.Close()
		r.feed = nil
		return nil
	}
	return r.feed.Next(time.Now())
}

// Dialog lists subagents and jobs, and shows the conversation of a subagent,
// read-only; see [ui.Dialog].
type Dialog struct {
	shared *ui.Shared
	tasks  *Tasks
	now    func() time.Time
	ctx    context.Context //nolint:containedctx // of the window: what its feeds hang on
	close  context.CancelFunc

	rows         map[pawl.SessionID]*row
	asked        bool // rows are being read
	at, top      int
	listed       int
	armed        pawl.SessionID // the subagent that another key press cancels
	fault        string
	conversation *conversation // nil while the list is shown
}

var _ ui.Dialog = (*Dialog)(nil)

// NewDialog returns the dialog of a session's subagents.
func NewDialog(s *ui.Shared, t *Tasks) *Dialog {
	d := &Dialog{shared: s, tasks: t, now: time.Now, rows: map[pawl.SessionID]*row{}}
	d.ctx, d.close = context.WithCancel(s.Context)
	return d
}

// rowsMsg lists the subagents.
type rowsMsg struct {
	dialog *Dialog
	rows   []pawl.Session
	err    error
}

// tailMsg is the end of a subagent's log.
type tailMsg struct {
	dialog *Dialog
	id     pawl.SessionID
	events []pawl.Event
}

// canceledMsg is the result of canceling a subagent.
type canceledMsg struct {
	dialog *Dialog
	err    error
}

// Shown reads the list.
func (d *Dialog) Shown() tea.Cmd { return d.read() }

func (d *Dialog) read() tea.Cmd {
	if d.asked {
		return nil
	}
	d.asked = true
	svc, ctx, id := d.shared.Service, d.ctx, d.tasks.session
	return func() tea.Msg {
		rows, err := svc.List(ctx, pawl.Filter{Parent: id, Limit: maxRows})
		return rowsMsg{d, rows.Sessions, err}
	}
}

// Update handles a message.
func (d *Dialog) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if d.conversation != nil {
		if cmd, taken := d.conversation.update(msg); taken {
			return d, cmd
		}
	}
	switch m := msg.(type) {
	case rowsMsg:
		if m.dialog == d {
			return d, d.fill(m)
		}
	case tailMsg:
		if m.dialog == d {
			return d, d.follow(m)
		}
	case eventfeed.News:
		return d, d.news(m)
	case Tick:
		return d, d.born()
	case canceledMsg:
		if m.dialog == d && m.err != nil {
			d.fault = fault.Text(m.err)
		}
	case chat.SecondMsg:
		return d, nil // of a conversation that is no longer shown
	case tea.MouseWheelMsg:
		d.wheel(m)
	case tea.KeyPressMsg:
		return d.key(m)
	}
	return d, nil
}

// fill shows the subagents, and reads the ends of their logs.
func (d *Dialog) fill(m rowsMsg) tea.Cmd {
	d.asked = false
	if m.err != nil {
		d.fault = "load the subagents: " + fault.Text(m.err)
		return nil
	}
	var cmds []tea.Cmd
	for _, s := range m.rows {
		if d.rows[s.ID] == nil {
			d.rows[s.ID] = &row{session: s}
			cmds = append(cmds, d.end(s))
		}
	}
	return tea.Batch(cmds...)
}

// end reads the end of a subagent's log.
func (d *Dialog) end(s pawl.Session) tea.Cmd {
	svc, ctx := d.shared.Service, d.ctx
	return func() tea.Msg {
		events, err := eventfeed.Page(ctx, svc, s.ID, s.Head-tailEvents, s.Head)
		if err != nil {
			return nil // the row is enough
		}
		return tailMsg{d, s.ID, events}
	}
}

// follow shows the end of a subagent's log, and new events if it works.
func (d *Dialog) follow(m tailMsg) tea.Cmd {
	return d.rows[m.id].follow(d.ctx, d.shared.Service, m.events)
}

// news applies new events of a subagent.
func (d *Dialog) news(m eventfeed.News) tea.Cmd {
	for _, r := range d.rows {
		if r.feed != m.Feed {
			continue
		}
		return r.hear(m)
	}
	return nil
}

// born reads the list again if a subagent was announced but did not exist yet.
func (d *Dialog) born() tea.Cmd {
	for _, k := range d.tasks.Working() {
		if d.rows[k.ID] == nil {
			return d.read()
		}
	}
	return nil
}

// line is a list entry of two lines: a subagent or a job.
type line struct {
	id  pawl.SessionID // of a subagent
	job *Job
}

// lines returns the entries, newest first, subagents before jobs.
func (d *Dialog) lines() []line {
	var list []line
	for id := range d.rows {
		list = append(list, line{id: id})
	}
	for _, k := range d.tasks.list {
		if d.rows[k.ID] == nil {
			list = append(list, line{id: k.ID})
		}
	}
	slices.SortFunc(list, func(a, b line) int { return strings.Compare(string(b.id), string(a.id)) })
	for _, j := range slices.Backward(d.tasks.jobs) {
		list = append(list, line{job: j})
	}
	return list
}

// row returns the row of a subagent.
func (d *Dialog) row(id pawl.SessionID) *row {
	if r := d.rows[id]; r != nil {
		return r
	}
	r := &row{}
	if k := d.tasks.Find(id); k != nil && k.Over {
		r.tail.end = &transcript.Item{End: &transcript.End{Reason: pawl.ReasonEndTurn}}
	}
	return r
}

func (d *Dialog) key(k tea.KeyPressMsg) (ui.Dialog, tea.Cmd) {
	name := k.String()
	action := d.shared.Keys.Either(name, keys.InTasks, keys.Dialog)
	armed := d.armed
	d.armed, d.fault = "", ""
	if action == keys.Close && d.conversation != nil {
		d.conversation.close()
		d.conversation = nil
		return d, nil
	}
	if action == keys.EndTask {
		return d, d.stop(armed)
	}
	if d.conversation != nil {
		return d, d.conversation.key(name)
	}
	switch action {
	case keys.Close:
		d.close()
		return nil, nil
	case keys.Up:
		d.move(-1)
	case keys.Down:
		d.move(1)
	case keys.Choose:
		return d, d.open()
	default:
		d.far(name)
	}
	return d, nil
}

// far moves by pages or to the ends.
func (d *Dialog) far(name string) {
	page := max(1, d.listed-1)
	switch d.shared.Keys.Action(keys.Global, name) {
	case keys.PageUp:
		d.move(-page)
	case keys.PageDown:
		d.move(page)
	default:
	}
	switch name {
	case "home":
		d.move(-len(d.lines()))
	case "end":
		d.move(len(d.lines()))
	}
}

func (d *Dialog) move(by int) { d.at = max(0, min(d.at+by, len(d.lines())-1)) }

func (d *Dialog) wheel(m tea.MouseWheelMsg) {
	switch m.Button {
	case tea.MouseWheelUp:
		d.move(-1)
	case tea.MouseWheelDown:
		d.move(1)
	default:
	}
}

// chosen returns the selected entry.
func (d *Dialog) chosen() (line, bool) {
	if d.conversation != nil {
		return line{id: d.conversation.id}, true
	}
	list := d.lines()
	if d.at >= len(list) {
		return line{}, false
	}
	return list[d.at], true
}

// open shows the conversation of a subagent.
func (d *Dialog) open() tea.Cmd {
	l, ok := d.chosen()
	switch {
	case !ok || l.job != nil:
		return nil
	case d.rows[l.id] == nil:
		d.fault = "the subagent's session does not exist yet"
		return nil
	}
	d.conversation = newConversation(d.shared, d.ctx, l.id, d.title(l.id))
	return d.conversation.read()
}

// stop cancels a subagent on the second press.
func (d *Dialog) stop(armed pawl.SessionID) tea.Cmd {
	l, ok := d.chosen()
	if !ok {
		return nil
	}
	if l.job != nil {
		if !l.job.Over {
			d.fault = fmt.Sprintf("background commands stop when Pawl exits; to stop %s now, ask Pawl to", l.job.ID)
		}
		return nil
	}
	r := d.row(l.id)
	if _, works := r.tail.state(r.session); !works {
		return nil
	}
	if armed != l.id {
		d.armed = l.id
		return nil
	}
	svc, ctx := d.shared.Service, d.shared.Context
	return func() tea.Msg { return canceledMsg{d, svc.Cancel(ctx, l.id)} }
}
