package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/chat"
	"github.com/pawl-dev/pawl/internal/tui/complete"
	"github.com/pawl-dev/pawl/internal/tui/first"
	"github.com/pawl-dev/pawl/internal/tui/keys"
	"github.com/pawl-dev/pawl/internal/tui/picker"
	"github.com/pawl-dev/pawl/internal/tui/rewind"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// commands are what the terminal does by name, behind a slash or a key.
var commands = map[string]func(a *app, arguments string) tea.Cmd{
	"quit":     func(*app, string) tea.Cmd { return tea.Quit },
	"help":     func(a *app, _ string) tea.Cmd { return a.help() },
	"new":      func(a *app, _ string) tea.Cmd { return a.begin() },
	"sessions": func(a *app, _ string) tea.Cmd { return a.listSessions() },
	"models":   (*app).chooseModel,
	"agents":   (*app).chooseAgent,
	"mode":     (*app).chooseMode,
	"trust":    func(a *app, _ string) tea.Cmd { return first.AskTrust(a.shared) },
	"search": func(a *app, _ string) tea.Cmd {
		a.view.Find()
		return nil
	},
	"copy": func(a *app, _ string) tea.Cmd {
		text := a.view.Log.LastReply()
		return tea.Batch(tea.SetClipboard(text), ui.Show(ui.Notice{Text: "the newest reply is copied"}))
	},
	"compact": func(a *app, words string) tea.Cmd {
		return a.order(func(s pawl.Service, id pawl.SessionID) error {
			_, err := s.Compact(a.shared.Context, id, words)
			return err
		})
	},
	"rename": func(a *app, title string) tea.Cmd {
		return a.order(func(s pawl.Service, id pawl.SessionID) error { return s.Rename(a.shared.Context, id, title) })
	},
	"fork":   func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Fork) },
	"rewind": func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Back) },
	"undo":   func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Undo) },
	"tasks":  func(a *app, _ string) tea.Cmd { return a.showTasks() },
	"redo":   func(a *app, _ string) tea.Cmd { return a.rewind(rewind.Redo) },
}

// run does a command of the terminal.
func (a *app) run(m complete.Run) tea.Cmd {
	do, ok := commands[m.Name]
	if !ok {
		return ui.Show(ui.Failed{Err: fmt.Errorf("/%s cannot be done here yet: %w", m.Name, pawl.ErrUnavailable)})
	}
	return do(a, strings.TrimSpace(m.Arguments))
}

// commandKeys are the keys of commands.
var commandKeys = map[keys.Action]string{
	keys.Help: "help", keys.NewSession: "new", keys.Sessions: "sessions", keys.Models: "models", keys.Agents: "agents", keys.NextMode: "mode", keys.Tasks: "tasks",
}

// order asks something of the session that is shown.
func (a *app) order(do func(pawl.Service, pawl.SessionID) error) tea.Cmd {
	id := a.session.ID
	if id == "" {
		return ui.Show(ui.Failed{Err: fmt.Errorf("there is no session yet: send a prompt first: %w", pawl.ErrInvalid)})
	}
	return ui.Do(func() error { return do(a.shared.Service, id) })
}

// begin shows an empty session, which is made with its first prompt.
func (a *app) begin() tea.Cmd {
	a.feed.Close()
	a.feed, a.session = nil, pawl.Session{}
	a.view = chat.NewView(chat.NewLog(), a.shared.Styles)
	return tea.Batch(a.editor.Switch("", a.shared.Dir), a.queue.Open("", nil), a.tasks.Open("", nil))
}

// help lists what the keys do, as they are now.
func (a *app) help() tea.Cmd {
	var items []picker.Item
	for _, scope := range []keys.Scope{keys.Editor, keys.Global, keys.Chat, keys.Ask, keys.Dialog} {
		for _, b := range a.shared.Keys.Bindings(scope) {
			if len(b.Keys) > 0 {
				items = append(items, picker.Item{ID: string(b.Action), Title: b.Help, Detail: strings.Join(b.Keys, ", "), Group: string(scope)})
			}
		}
	}
	return ui.Show(ui.Open{Dialog: picker.New(a.shared, "Keys", items, picker.Options{ID: "keys"})})
}

// The pickers.
const (
	pickSession = "sessions"
	pickModel   = "models"
	pickAgent   = "agents"
	pickMode    = "modes"
)

// maxListed is how many sessions are offered.
const maxListed = 200

func (a *app) listSessions() tea.Cmd {
	return func() tea.Msg {
		list, err := a.shared.Service.List(a.shared.Context, pawl.Filter{Dir: a.shared.Dir, Limit: maxListed})
		if err != nil {
			return ui.Failed{Err: err}
		}
		var items []picker.Item
		for _, s := range list {
			items = append(items, picker.Item{ID: string(s.ID), Title: s.Name(), Detail: s.Updated.Local().Format("2 Jan 15:04") + " " + string(s.State())})
		}
		return ui.Open{Dialog: picker.New(a.shared, "Sessions in this folder", items, picker.Options{ID: pickSession, Empty: "There are none yet."})}
	}
}

func (a *app) chooseModel(name string) tea.Cmd {
	if name != "" {
		a.settings.Model = name
		return ui.Show(ui.Notice{Text: "the next prompts go to " + name})
	}
	return func() tea.Msg {
		list, err := a.shared.Service.Models(a.shared.Context)
		if err != nil {
			return ui.Failed{Err: err}
		}
		var items []picker.Item
		for _, m := range list {
			items = append(items, picker.Item{ID: m.Ref, Title: m.Ref, Detail: m.Name, Group: m.Provider})
		}
		return ui.Open{Dialog: picker.New(a.shared, "Models", items, picker.Options{ID: pickModel, Chosen: a.settings.Model, Empty: "No model can be asked: 'pawl auth login' keeps a key."})}
	}
}

func (a *app) chooseAgent(name string) tea.Cmd {
	if name != "" {
		a.settings.Agent = name
		return ui.Show(ui.Notice{Text: "the next prompts are for " + name})
	}
	return func() tea.Msg {
		f, err := a.shared.Service.Look(a.shared.Context, a.dir())
		if err != nil {
			return ui.Failed{Err: err}
		}
		var items []picker.Item
		for _, g := range f.Agents {
			items = append(items, picker.Item{ID: g.Name, Title: g.Name, Detail: g.Description})
		}
		return ui.Open{Dialog: picker.New(a.shared, "Agents", items, picker.Options{ID: pickAgent, Chosen: a.settings.Agent})}
	}
}

// modeWords say what the modes mean.
var modeWords = []picker.Item{
	{ID: "plan", Title: "plan", Detail: "look and plan, change nothing"},
	{ID: "ask", Title: "ask", Detail: "ask before each change and command"},
	{ID: "guard", Title: "guard", Detail: "work in the sandbox, ask before something leaves it"},
	{ID: "auto", Title: "auto", Detail: "work in the sandbox, refuse what would leave it"},
}

func (a *app) chooseMode(name string) tea.Cmd {
	if name == "" {
		return ui.Show(ui.Open{Dialog: picker.New(a.shared, "What pawl may do without asking", modeWords, picker.Options{ID: pickMode, Chosen: a.settings.Mode})})
	}
	if !slices.ContainsFunc(modeWords, func(i picker.Item) bool { return i.ID == name }) {
		return ui.Show(ui.Failed{Err: fmt.Errorf("there is no mode %q to choose here: plan, ask, guard or auto: %w", name, pawl.ErrInvalid)})
	}
	a.settings.Mode = name
	return ui.Show(ui.Notice{Text: "the next prompts are worked on in the mode " + name})
}

// chosen takes what was chosen from a list. It reports whether the list is of the
// app's own.
func (a *app) chosen(m picker.Chosen) (tea.Cmd, bool) {
	switch m.Picker {
	case pickSession:
		return a.open(pawl.SessionID(m.ID)), true
	case pickModel:
		return a.chooseModel(m.ID), true
	case pickAgent:
		return a.chooseAgent(m.ID), true
	case pickMode:
		return a.chooseMode(m.ID), true
	}
	return nil, false
}
