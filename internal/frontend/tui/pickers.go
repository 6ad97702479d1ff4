package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/help"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// IDs of the pickers.
const (
	pickModel = "models"
	pickAgent = "agents"
	pickMode  = "modes"
	pickTheme = "themes"
)

// picked handles a picker's message. Messages of other pickers go to whoever opened
// them.
func (a *app) picked(msg tea.Msg) tea.Cmd {
	m, ok := msg.(picker.Chosen)
	if !ok {
		if a.previewTheme(msg) {
			return nil
		}
		return a.forward(msg)
	}
	if cmd, taken := a.chosen(m); taken {
		return cmd
	}
	return a.forward(msg)
}

// chosen handles a choice. It reports whether the picker is the app's own.
func (a *app) chosen(m picker.Chosen) (tea.Cmd, bool) {
	switch m.Picker {
	case pickModel:
		return a.chooseModel(m.ID), true
	case pickAgent:
		return a.chooseAgent(m.ID), true
	case pickMode:
		return a.chooseMode(m.ID), true
	case pickTheme:
		return a.chooseTheme(m.ID), true
	case help.ID:
		return a.runHelpItem(m.ID), true
	}
	return nil, false
}

const (
	maxRecent   = 5   // recently used models that are listed first
	recentAmong = 100 // sessions in which they are looked for
)

func (a *app) chooseModel(name string) tea.Cmd {
	if name != "" {
		a.settings.Model = name
		return tea.Batch(a.updateStatus(), ui.Send(ui.Notice{Text: "Model from the next prompt: " + name}))
	}
	now := a.current().Model
	return func() tea.Msg {
		list, err := a.shared.Service.Models(a.shared.Context)
		if err != nil {
			return ui.Failed{Err: err}
		}
		used, err := a.shared.Service.List(a.shared.Context, pawl.Filter{Limit: recentAmong})
		if err != nil {
			return ui.Failed{Err: err}
		}
		return ui.Open{Dialog: picker.New(a.shared, "Models", modelItems(list, used.Sessions), picker.Options{ID: pickModel, Chosen: now, Empty: "No models available. Type /login to add an API key."})}
	}
}

// modelItems lists models: recently used ones first, then the others by provider.
func modelItems(list []pawl.ModelInfo, used []pawl.Session) []picker.Item {
	var recent []string
	for _, s := range used {
		known := slices.ContainsFunc(list, func(m pawl.ModelInfo) bool { return m.Ref == s.Model })
		if known && len(recent) < maxRecent && !slices.Contains(recent, s.Model) {
			recent = append(recent, s.Model)
		}
	}
	var first, rest []picker.Item
	for _, ref := range recent {
		i := slices.IndexFunc(list, func(m pawl.ModelInfo) bool { return m.Ref == ref })
		first = append(first, picker.Item{ID: ref, Title: ref, Detail: modelDetail(list[i]), Group: "recent"})
	}
	for _, m := range list {
		if !slices.Contains(recent, m.Ref) {
			rest = append(rest, picker.Item{ID: m.Ref, Title: m.Ref, Detail: modelDetail(m), Group: m.Provider})
		}
	}
	return append(first, rest...)
}

// modelDetail describes a model: context window and price per million tokens.
func modelDetail(m pawl.ModelInfo) string {
	var parts []string
	if m.Name != m.Ref {
		parts = append(parts, m.Name)
	}
	if m.Context > 0 {
		parts = append(parts, humanize.Short(int64(m.Context)))
	}
	if m.Input > 0 || m.Output > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s out", humanize.Price(m.Input), humanize.Price(m.Output)))
	}
	return strings.Join(parts, " · ")
}

// Built-in agents.
const (
	defaultAgent = "build" // used if none is chosen
	planAgent    = "plan"  // works in plan mode
)

func (a *app) chooseAgent(name string) tea.Cmd {
	if name != "" {
		a.settings.Agent = name
		if name == planAgent {
			a.settings.Mode = "" // it has its own mode
		}
		return ui.Send(ui.Notice{Text: "Agent from the next prompt: " + name})
	}
	return func() tea.Msg {
		f, err := a.shared.Service.Look(a.shared.Context, a.dir())
		if err != nil {
			return ui.Failed{Err: err}
		}
		var items []picker.Item
		for _, g := range f.Agents {
			if g.Offered() {
				items = append(items, picker.Item{ID: g.Name, Title: g.Name, Detail: g.Description, Group: g.Origin})
			}
		}
		return ui.Open{Dialog: picker.New(a.shared, "Agents", items, picker.Options{ID: pickAgent, Chosen: cmp.Or(a.settings.Agent, defaultAgent)})}
	}
}

// modeYolo is the mode without permission prompts and sandbox. It is available only if
// pawl was started with it.
const modeYolo = "yolo"

// modeItems describes the modes, most restrictive first.
var modeItems = []picker.Item{
	{ID: "plan", Title: "plan", Detail: "Read and plan, change nothing"},
	{ID: "ask", Title: "ask", Detail: "Ask before every change and command"},
	{ID: "guard", Title: "guard", Detail: "Work in the sandbox, ask before leaving it"},
	{ID: "auto", Title: "auto", Detail: "Work in the sandbox, deny everything outside it"},
	{ID: modeYolo, Title: modeYolo, Detail: "Allow everything, without a sandbox"},
}

// modes returns the modes that can be chosen.
func (a *app) modes() []picker.Item {
	folder, looked := a.editor.Project()
	var items []picker.Item
	for _, m := range modeItems {
		allowed := !looked || len(folder.Modes) == 0 || slices.Contains(folder.Modes, m.ID)
		if allowed && (m.ID != modeYolo || a.lists.yolo || folder.Mode == modeYolo) {
			items = append(items, m)
		}
	}
	return items
}

// mode returns the mode of the next prompt.
func (a *app) mode() string {
	folder, _ := a.editor.Project()
	if a.settings.Mode == "" && a.settings.Agent == planAgent {
		return "plan"
	}
	return cmp.Or(a.settings.Mode, a.sessionMode(), folder.Mode)
}

// sessionMode returns the mode that the session keeps if the next prompt chooses none; "" means the default.
func (a *app) sessionMode() string {
	last := a.view.Log.Settings()
	if last.Agent == planAgent || last.Mode == "auto" || last.Mode == modeYolo {
		return ""
	}
	return last.Mode
}

// modesMsg triggers listModes; its value is the number of attempts.
type modesMsg int

const (
	modesTries = 40
	modesPause = 50 * time.Millisecond
)

// listModes opens the mode picker once the project is loaded, which is shortly after
// the start.
func (a *app) listModes(tried modesMsg) tea.Cmd {
	if _, looked := a.editor.Project(); !looked && tried < modesTries {
		return tea.Tick(modesPause, func(time.Time) tea.Msg { return tried + 1 })
	}
	return ui.Send(ui.Open{Dialog: picker.New(a.shared, "Permission mode", a.modes(), picker.Options{ID: pickMode, Chosen: a.mode()})})
}

func (a *app) chooseMode(name string) tea.Cmd {
	if name == "" {
		return a.listModes(0)
	}
	items := a.modes()
	i := slices.IndexFunc(items, func(m picker.Item) bool { return m.ID == name })
	if i < 0 {
		var names []string
		for _, m := range items {
			names = append(names, m.ID)
		}
		return ui.Send(ui.Failed{Err: fault.New(pawl.ErrInvalid, "unknown mode %q: use %s", name, humanize.Join(names, "or"))})
	}
	a.settings.Mode = name
	if a.settings.Agent == planAgent && name != "plan" {
		a.settings.Agent = "" // the plan agent works in plan mode only
	}
	return ui.Send(ui.Notice{Text: "Permission mode from the next prompt: " + name})
}

// addDir adds a project directory, or tells which were added.
func (a *app) addDir(name string) tea.Cmd {
	if name == "" {
		if len(a.settings.AddDirs) == 0 {
			return ui.Send(ui.Notice{Text: "No directory was added: use /add-dir with a path"})
		}
		return ui.Send(ui.Notice{Text: "Added: " + strings.Join(a.settings.AddDirs, ", ")})
	}
	if a.lists.addDir == nil {
		return ui.Send(ui.Failed{Err: errNoAdding})
	}
	added, err := a.lists.addDir(a.settings.AddDirs, name)
	if err != nil {
		return ui.Send(ui.Failed{Err: err})
	}
	a.settings.AddDirs = added
	return ui.Send(ui.Notice{Text: "Project directory from the next prompt: " + added[len(added)-1]})
}

// isolate ends the UI, so that the session continues on a view of the project.
func (a *app) isolate() tea.Cmd {
	isolate := a.lists.isolate
	if isolate == nil {
		return ui.Send(ui.Failed{Err: errNoView})
	}
	ctx, id, settings := a.shared.Context, a.session.ID, a.settings
	return func() tea.Msg {
		if err := isolate(ctx, id, settings); err != nil {
			return ui.Failed{Err: err}
		}
		return tea.Quit()
	}
}

// nextMode switches to the next mode.
func (a *app) nextMode() tea.Cmd {
	items := a.modes()
	if len(items) == 0 {
		return nil
	}
	i := slices.IndexFunc(items, func(m picker.Item) bool { return m.ID == a.mode() })
	return a.chooseMode(items[(i+1)%len(items)].ID)
}
