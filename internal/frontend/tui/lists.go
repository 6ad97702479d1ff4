package tui

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/frontend/tui/sessions"
	"github.com/pawl-dev/pawl/internal/frontend/tui/stats"
	"github.com/pawl-dev/pawl/internal/frontend/tui/status"
	"github.com/pawl-dev/pawl/internal/frontend/tui/todos"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Export writes a session to a file, in the format of the file's extension, and
// returns its path. If file is "", it chooses a name.
type Export func(ctx context.Context, id pawl.SessionID, file string) (path string, err error)

// AddDir returns the project directories that were added, with one more that the user has
// named.
type AddDir func(added []string, name string) ([]string, error)

// Isolate prepares that a session, or a new one if id is "", continues on a copy-on-write view
// of the project after Run has returned.
type Isolate func(ctx context.Context, id pawl.SessionID, settings pawl.Settings) error

// lists is the state beside the conversation: status line, todos, queue, export,
// permissions.
type lists struct {
	status       *status.Line
	todos        *todos.Strip
	queued       int // waiting prompts
	waitingQuery int // number of the last query for waiting prompts
	export       Export
	permissions  *permissions.Source
	addDir       AddDir
	isolate      Isolate
	isolated     bool
	yolo         bool // pawl was started in yolo mode, so that it can be chosen
}

func newLists(s *ui.Shared, c Config) lists {
	return lists{status: status.New(s), todos: todos.New(s), export: c.Export, permissions: c.Permissions, addDir: c.AddDir, isolate: c.Isolate, isolated: c.Isolated, yolo: c.Settings.Mode == modeYolo}
}

// open resets the state for a session.
func (l *lists) open(s pawl.Session, events []pawl.Event) {
	l.queued = 0
	l.status.Open(s, events)
}

// listMsg handles messages about sessions and missions. It reports whether msg is one.
func (a *app) listMsg(msg tea.Msg) (tea.Cmd, bool) {
	if cmd, taken := a.lists.status.Update(msg); taken {
		return cmd, true
	}
	if cmd, taken := a.mission.Update(msg); taken {
		return tea.Batch(cmd, a.refreshBoard()), true
	}
	switch m := msg.(type) {
	case sessions.Open:
		if m.ID == a.session.ID {
			return nil, true
		}
		return a.open(m.ID), true
	case startedMsg:
		return a.missionStarted(m), true
	case sessions.New:
		return a.newSession(), true
	case sessions.Deleted:
		if m.ID == a.session.ID {
			return tea.Batch(a.newSession(), ui.Send(ui.Notice{Text: "Session deleted. This is a new session."})), true
		}
		return ui.Send(ui.Notice{Text: "Session deleted"}), true
	default:
		return nil, false
	}
}

// updateStatus starts the clock of the status line and loads the model's limits. It
// does not query models before the first reply: that reads keys and may prompt for a
// password.
func (a *app) updateStatus() tea.Cmd {
	if a.view.Log.Usage().Tokens() == 0 {
		return a.lists.status.Clock()
	}
	return tea.Batch(a.lists.status.Clock(), a.lists.status.Know(a.current().Model))
}

// reloadProject loads the project again when a turn has ended, because the turn may
// have changed it.
func (a *app) reloadProject(e pawl.Event) tea.Cmd {
	if _, ended := e.Body.(pawl.TurnFinished); ended {
		return a.editor.Switch(a.session.ID, a.dir())
	}
	return nil
}

// current returns the effective settings: of the running turn or, without one, of the
// next prompt.
func (a *app) current() pawl.Settings {
	log := a.view.Log.Settings()
	if a.view.Log.Working() {
		return log
	}
	next := a.settings
	next.Model = cmp.Or(next.Model, log.Model)
	if folder, ok := a.editor.Project(); ok {
		next.Model = cmp.Or(next.Model, folder.Model)
	}
	next.Mode = a.mode()
	return next
}

// status returns the last line.
func (a *app) status() string {
	s := a.shared.Styles
	if a.message != "" {
		style := s.Muted
		if a.failed {
			style = s.Bad
		}
		return style.Render(ansi.Truncate(sanitize.Line(a.message), a.width, "…"))
	}
	folder, _ := a.editor.Project()
	return a.lists.status.View(a.width, status.Now{
		Settings: a.current(), Next: a.mode(), Folder: folder, Reply: a.view.Log.Usage(), Away: !a.view.Follows(), Queued: a.lists.queued, Tasks: a.tasks.Background(), Mission: a.mission.Short(), Isolated: a.lists.isolated,
	})
}

// todoLines returns the model's todo list.
func (a *app) todoLines() []string {
	return a.lists.todos.View(a.view.Log.Todos(), a.view.Log.Working(), a.width, a.height/3)
}

func (a *app) toggleTodos() tea.Cmd {
	if len(a.todoLines()) == 0 {
		return ui.Send(ui.Notice{Text: "No todo list"})
	}
	a.lists.todos.Toggle()
	return nil
}

func (a *app) listSessions() tea.Cmd {
	return ui.Send(ui.Open{Dialog: sessions.NewDialog(a.shared, a.session.ID)})
}

func (a *app) showStats() tea.Cmd {
	return ui.Send(ui.Open{Dialog: stats.New(a.shared, a.session.ID, a.dir())})
}

// exportTo writes the session to a file.
func (a *app) exportTo(file string) tea.Cmd {
	export := a.lists.export
	if export == nil {
		return ui.Send(ui.Failed{Err: errNoExport})
	}
	if a.session.ID == "" {
		return ui.Send(ui.Failed{Err: errNoSession})
	}
	id, ctx, dir := a.session.ID, a.shared.Context, a.shared.Dir
	return func() tea.Msg {
		path, err := export(ctx, id, file)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return ui.Notice{Text: "Exported to " + strings.TrimPrefix(path, dir+"/") + ". Review it before you share it."}
	}
}
