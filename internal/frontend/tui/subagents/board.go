package subagents

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Board shows the progress of a mission: tasks, workers, cost and evidence; see
// [ui.Dialog]. For the selected worker it shows its last activity.
type Board struct {
	shared  *ui.Shared
	mission *Mission
	now     func() time.Time

	ctx   context.Context //nolint:containedctx // of the window: what its feeds hang on
	close context.CancelFunc

	chosen       string // the selected task; "" means the first
	top          int
	listed       int
	watched      *watched      // the worker of that task
	conversation *conversation // nil while the board is shown
	fault        string
}

var _ ui.Dialog = (*Board)(nil)

// NewBoard returns the dialog of a mission.
func NewBoard(s *ui.Shared, m *Mission) *Board {
	b := &Board{shared: s, mission: m, now: time.Now}
	b.ctx, b.close = context.WithCancel(s.Context)
	return b
}

// watched is a worker whose activity is shown.
type watched struct {
	row
	id pawl.SessionID
}

// watchedMsg is the end of a worker's log.
type watchedMsg struct {
	of      *watched
	session pawl.Session
	events  []pawl.Event
}

// Shown follows the selected worker.
func (b *Board) Shown() tea.Cmd { return b.watch() }

// Actions returns the actions of the dialog.
func (b *Board) Actions() []keys.Action {
	return []keys.Action{keys.Up, keys.Down, keys.PageUp, keys.PageDown, keys.Choose, keys.Close}
}

// phases are in the order in which tasks are shown.
var phases = []pawl.TaskPhase{pawl.PhaseRunning, pawl.PhaseReturned, pawl.PhaseQueued, pawl.PhasePlanned, pawl.PhaseMerged, pawl.PhaseDropped}

// tasks returns the tasks of the mission, by phase.
func (b *Board) tasks() []pawl.TaskState {
	if b.mission.board == nil {
		return nil
	}
	list := slices.Clone(b.mission.board.Mission.Tasks)
	slices.SortStableFunc(list, func(x, y pawl.TaskState) int {
		return cmp.Compare(slices.Index(phases, x.Phase), slices.Index(phases, y.Phase))
	})
	return list
}

// at returns the position of the selection.
func (b *Board) at(list []pawl.TaskState) int {
	return max(0, slices.IndexFunc(list, func(t pawl.TaskState) bool { return t.Task.ID == b.chosen }))
}

// task returns the selected task, or nil.
func (b *Board) task() *pawl.TaskState {
	list := b.tasks()
	if len(list) == 0 {
		return nil
	}
	return &list[b.at(list)]
}

// watch follows the worker of the selected task, and no other.
func (b *Board) watch() tea.Cmd {
	t := b.task()
	switch {
	case t == nil || t.Phase != pawl.PhaseRunning:
		b.unwatch()
		return nil
	case b.watched != nil && b.watched.id == t.Worker:
		return nil
	}
	b.unwatch()
	w := &watched{id: t.Worker}
	b.watched = w
	svc, ctx := b.shared.Service, b.ctx
	return func() tea.Msg {
		s, err := svc.Get(ctx, w.id)
		if err != nil {
			return watchedMsg{of: w} // it does not exist yet
		}
		events, err := eventfeed.Page(ctx, svc, s.ID, s.Head-tailEvents, s.Head)
		if err != nil {
			return watchedMsg{of: w}
		}
		return watchedMsg{w, s, events}
	}
}

func (b *Board) unwatch() {
	if b.watched != nil {
		b.watched.feed.Close()
		b.watched = nil
	}
}

// Update handles a message.
func (b *Board) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if b.conversation != nil {
		if cmd, taken := b.conversation.update(msg); taken {
			return b, cmd
		}
	}
	switch m := msg.(type) {
	case watchedMsg:
		return b, b.follow(m)
	case eventfeed.News:
		return b, b.news(m)
	case Tick:
		return b, tea.Batch(b.born(), b.mission.refresh(m.at))
	case chat.SecondMsg:
		return b, nil // of a conversation that is no longer shown
	case tea.MouseWheelMsg:
		if m.Button == tea.MouseWheelUp {
			return b, b.move(-1)
		}
		return b, b.move(1)
	case tea.KeyPressMsg:
		return b.key(m)
	}
	return b, nil
}

// follow shows the end of a worker's log, and new events if it works.
func (b *Board) follow(m watchedMsg) tea.Cmd {
	w := m.of
	if w != b.watched || m.session.ID == "" || w.session.ID != "" {
		return nil
	}
	w.session = m.session
	return w.follow(b.ctx, b.shared.Service, m.events)
}

// news applies new events of the worker.
func (b *Board) news(m eventfeed.News) tea.Cmd {
	w := b.watched
	if w == nil || w.feed == nil || w.feed != m.Feed {
		return nil
	}
	return w.hear(m)
}

// born looks again for a worker that was announced but did not exist yet, or for that
// of another attempt.
func (b *Board) born() tea.Cmd {
	if w := b.watched; w != nil && w.session.ID == "" {
		b.watched = nil
	}
	return b.watch()
}

func (b *Board) key(k tea.KeyPressMsg) (ui.Dialog, tea.Cmd) {
	name := k.String()
	action := b.shared.Keys.Action(keys.Dialog, name)
	b.fault = ""
	if b.conversation != nil {
		if action == keys.Close {
			b.conversation.close()
			b.conversation = nil
			return b, b.watch()
		}
		return b, b.conversation.key(name)
	}
	page := max(1, b.listed-1)
	switch {
	case action == keys.Close:
		b.close()
		return nil, nil
	case action == keys.Choose:
		return b, b.open()
	case action == keys.Up:
		return b, b.move(-1)
	case action == keys.Down:
		return b, b.move(1)
	case b.shared.Keys.Action(keys.Global, name) == keys.PageUp:
		return b, b.move(-page)
	case b.shared.Keys.Action(keys.Global, name) == keys.PageDown:
		return b, b.move(page)
	}
	return b, nil
}

func (b *Board) move(by int) tea.Cmd {
	list := b.tasks()
	if len(list) == 0 {
		return nil
	}
	b.chosen = list[max(0, min(b.at(list)+by, len(list)-1))].Task.ID
	return b.watch()
}

// open shows the conversation of the task's last worker.
func (b *Board) open() tea.Cmd {
	t := b.task()
	switch {
	case t == nil:
		return nil
	case t.Worker == "":
		b.fault = "no worker has started this task yet"
		return nil
	case !slices.ContainsFunc(b.mission.board.Team, func(s pawl.Session) bool { return s.ID == t.Worker }):
		b.fault = "the worker's session does not exist yet, or was deleted"
		return nil
	}
	b.conversation = newConversation(b.shared, b.ctx, t.Worker, t.Task.ID+" "+t.Task.Title)
	return b.conversation.read()
}
