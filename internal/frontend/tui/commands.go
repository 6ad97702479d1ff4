package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/frontend/tui/rewind"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// commands are the slash commands of the terminal UI.
var commands = map[string]func(a *app, arguments string) tea.Cmd{
	"quit":     func(*app, string) tea.Cmd { return tea.Quit },
	"help":     func(a *app, _ string) tea.Cmd { return a.help(keys.Editor) },
	"new":      func(a *app, _ string) tea.Cmd { return a.newSession() },
	"sessions": func(a *app, _ string) tea.Cmd { return a.listSessions() },
	"models":   (*app).chooseModel,
	"agents":   (*app).chooseAgent,
	"mode":     (*app).chooseMode,
	"login": func(a *app, provider string) tea.Cmd {
		return ui.Send(ui.Open{Dialog: onboarding.New(a.shared, a.onboarding, provider)})
	},
	"logout": func(a *app, provider string) tea.Cmd {
		return onboarding.Logout(a.shared, a.onboarding.Accounts, provider)
	},
	"add-dir": (*app).addDir,
	"isolate": func(a *app, _ string) tea.Cmd { return a.isolate() },
	"theme":   (*app).chooseTheme,
	"todos":   func(a *app, _ string) tea.Cmd { return a.toggleTodos() },
	"stats":   func(a *app, _ string) tea.Cmd { return a.showStats() },
	"export":  (*app).exportTo,
	"permissions": func(a *app, _ string) tea.Cmd {
		return permissions.Open(a.shared, a.lists.permissions, a.dir())
	},
	"trust": func(a *app, _ string) tea.Cmd { return onboarding.AskTrust(a.shared) },
	"search": func(a *app, words string) tea.Cmd {
		a.view.FindText(words)
		return a.older()
	},
	"copy": func(a *app, _ string) tea.Cmd {
		text := a.view.Log.LastReply()
		return tea.Batch(tea.SetClipboard(text), ui.Send(ui.Notice{Text: "Copied the last reply"}))
	},
	"compact": func(a *app, words string) tea.Cmd {
		return a.withSession(func(s pawl.Service, id pawl.SessionID) error {
			_, err := s.Compact(a.shared.Context, id, words)
			return err
		})
	},
	"rename": func(a *app, title string) tea.Cmd {
		return a.withSession(func(s pawl.Service, id pawl.SessionID) error { return s.Rename(a.shared.Context, id, title) })
	},
	"fork":    func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Fork) },
	"rewind":  func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Back) },
	"undo":    func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Undo) },
	"tasks":   func(a *app, _ string) tea.Cmd { return a.showTasks() },
	"mission": (*app).startMission,
	"task":    (*app).startMission,
	"board":   func(a *app, _ string) tea.Cmd { return a.showBoard() },
	"redo":    func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Redo) },
}

// Reasons why a command fails.
var (
	errNoSession = fault.New(pawl.ErrInvalid, "no session yet").Hint("Send a prompt first.")
	errNoAdding  = fault.New(pawl.ErrUnavailable, "directories cannot be added to sessions on a server").Hint("Start Pawl with --add-dir there.")
	errNoView    = fault.New(pawl.ErrUnavailable, "sessions on a server cannot be isolated").Hint("Start Pawl with --isolated there.")
	errNoExport  = fault.New(pawl.ErrUnavailable, "this program cannot export sessions").Hint("Run `pawl session export` in a terminal.")
)

// run runs a slash command.
func (a *app) run(m completion.Run) tea.Cmd {
	do, ok := commands[m.Name]
	if !ok {
		return ui.Send(ui.Failed{Err: fault.New(pawl.ErrUnavailable, "/%s is not available here", m.Name)})
	}
	return do(a, strings.TrimSpace(m.Arguments))
}

// commandKeys maps key actions to commands.
var commandKeys = map[keys.Action]string{
	keys.Help: "help", keys.NewSession: "new", keys.Sessions: "sessions", keys.Models: "models", keys.Agents: "agents", keys.Todos: "todos", keys.Themes: "theme", keys.Tasks: "tasks", keys.Mission: "board",
}

// withSession runs do with the open session, or fails if none exists.
func (a *app) withSession(do func(pawl.Service, pawl.SessionID) error) tea.Cmd {
	id := a.session.ID
	if id == "" {
		return ui.Send(ui.Failed{Err: errNoSession})
	}
	return ui.Run(func() error { return do(a.shared.Service, id) })
}

// newSession shows an empty session. It is created with the first prompt.
func (a *app) newSession() tea.Cmd {
	a.feed.Close()
	a.feed, a.session = nil, pawl.Session{}
	a.view = chat.NewView(chat.NewLog(), a.shared.Styles)
	a.lists.open(pawl.Session{}, nil)
	return tea.Batch(a.editor.Switch("", a.shared.Dir), a.queue.Open("", nil), a.tasks.Open("", nil, nil), a.mission.Open(pawl.Session{}, nil))
}
