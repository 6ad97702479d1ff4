package onboarding

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// IDs of the pickers.
const (
	modelList = "first.model"
	modeList  = "first.mode"
)

// welcome explains the choice, lets the user choose a model and a mode, and saves it.
type welcome struct {
	shared  *ui.Shared
	options Options
	found   found
	looking bool
	lock    *dialog.Lock
	pane    dialog.Pane
	list    *picker.Picker // nil while the explanation is shown
	model   string
}

func newWelcome(s *ui.Shared, o Options, f found) *welcome {
	return &welcome{shared: s, options: o, found: f, lock: dialog.NewLock()}
}

// Shown starts the lock.
func (w *welcome) Shown() tea.Cmd { return w.lock.Shut() }

// savedMsg is the result of saving the choice.
type savedMsg struct {
	chosen Chosen
	err    error
}

// Update handles a message.
func (w *welcome) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case foundMsg:
		w.looking, w.found = false, m.found
		w.pane.Renew()
		return w, nil
	case picker.Chosen:
		return w, w.choose(m)
	case picker.Closed:
		w.list = nil
		return w, nil
	case savedMsg:
		return w.saved(m)
	case tea.MouseWheelMsg:
		if w.list == nil {
			w.pane.Wheel(m)
		}
	}
	if cmd, ok := w.lock.Settled(msg); ok {
		return w, cmd
	}
	if w.list != nil {
		_, cmd := w.list.Update(msg) // its messages close it
		return w, cmd
	}
	if k, ok := msg.(tea.KeyPressMsg); ok && w.lock.Takes() {
		return w.key(k.String())
	}
	return w, nil
}

func (w *welcome) key(name string) (ui.Dialog, tea.Cmd) {
	switch {
	case w.pane.Key(w.shared.Keys, name, true):
	case w.shared.Keys.Action(keys.Dialog, name) == keys.Close:
		return nil, nil
	case w.shared.Keys.Action(keys.Dialog, name) == keys.Choose && len(w.found.models) > 0:
		w.list = picker.New(w.shared, "Choose a model", modelItems(w.found.models), picker.Options{ID: modelList})
	case name == "r" && !w.looking:
		w.looking = true
		s, o, folder := w.shared, w.options, w.found.folder
		return w, func() tea.Msg { return foundMsg{find(s, o, folder)} }
	}
	return w, nil
}

// choose handles a choice from a picker.
func (w *welcome) choose(m picker.Chosen) tea.Cmd {
	switch m.Picker {
	case modelList:
		w.model = m.ID
		items := modeItems(w.found.folder)
		w.list = picker.New(w.shared, "Choose a permission mode", items, picker.Options{ID: modeList, Chosen: items[0].ID})
	case modeList:
		w.list = nil
		chosen, save := Chosen{w.model, m.ID}, w.options.Save
		return func() tea.Msg {
			if save == nil {
				return savedMsg{chosen: chosen}
			}
			return savedMsg{chosen, save(chosen.Model, chosen.Mode)}
		}
	}
	return nil
}

// saved ends the welcome. If saving failed, the choice still applies to this process.
func (w *welcome) saved(m savedMsg) (ui.Dialog, tea.Cmd) {
	chosen := ui.Send(m.chosen)
	if m.err != nil {
		failed := ui.Failed{Err: fmt.Errorf("the choice applies until Pawl exits, because it could not be saved: %w", m.err)}
		return nil, tea.Sequence(chosen, ui.Send(failed))
	}
	notice := "Ready. Ask Pawl to do something."
	if w.options.Save != nil {
		notice = "Saved to your configuration. Ask Pawl to do something."
	}
	return nil, tea.Sequence(chosen, ui.Send(ui.Notice{Text: notice}))
}

// modelItems returns the models, grouped by provider.
func modelItems(models []pawl.ModelInfo) []picker.Item {
	models = slices.Clone(models)
	slices.SortStableFunc(models, func(a, b pawl.ModelInfo) int { return strings.Compare(a.Provider, b.Provider) })
	var items []picker.Item
	for _, m := range models {
		var detail []string
		if m.Context > 0 {
			detail = append(detail, fmt.Sprintf("%dk", m.Context/1000))
		}
		if m.Reasoning {
			detail = append(detail, "reasoning")
		}
		if m.Images {
			detail = append(detail, "images")
		}
		items = append(items, picker.Item{ID: m.Ref, Title: m.Ref, Detail: strings.Join(detail, ", "), Group: m.Provider})
	}
	return items
}

// modes are the modes to start with.
var modes = []struct{ name, means string }{
	{"guard", "Work in the sandbox, ask before leaving it"},
	{"ask", "Ask before every change and command"},
	{"plan", "Read and plan, change nothing"},
}

// modeItems returns the allowed modes, the recommended one first: guard if there is a
// sandbox, otherwise ask.
func modeItems(f pawl.Project) []picker.Item {
	boxed := f.Sandbox != "" && f.Sandbox != "none"
	var items []picker.Item
	for _, m := range modes {
		if len(f.Modes) > 0 && !slices.Contains(f.Modes, m.name) {
			continue
		}
		title := m.name
		if m.name == "guard" && boxed || m.name == "ask" && !boxed {
			title += ", recommended"
		}
		items = append(items, picker.Item{ID: m.name, Title: title, Detail: m.means})
	}
	if len(items) == 0 { // managed settings allow none of these: use the configured mode
		return []picker.Item{{ID: f.Mode, Title: sanitize.Line(f.Mode)}}
	}
	if !boxed {
		slices.SortStableFunc(items, func(a, b picker.Item) int { return first(a) - first(b) })
	}
	return items
}

func first(i picker.Item) int {
	if strings.HasSuffix(i.Title, "recommended") {
		return 0
	}
	return 1
}

// View draws the dialog.
func (w *welcome) View(width, height int) string {
	if w.list != nil {
		return w.list.View(width, height)
	}
	w.lock.Drawn()
	s := w.shared.Styles
	f := dialog.Frame{Styles: s, Tone: s.Accent, Title: "Welcome to Pawl", Width: width}
	inner := f.Inner()
	w.pane.Fit(inner, s, w.lines)
	lines := slices.Clone(w.pane.View(height - 5))
	hints := []dialog.Hint{{Key: "r", Does: "refresh"}, {Key: w.shared.Keys.Key(keys.Close), Does: "skip"}}
	switch {
	case w.looking:
		hints = []dialog.Hint{{Key: "…", Does: "searching"}}
	case len(w.found.models) > 0:
		hints = append([]dialog.Hint{{Key: w.shared.Keys.Key(keys.Choose), Does: "choose a model"}}, hints...)
	}
	lines = append(lines, w.pane.More(w.shared))
	return f.Render(append(lines, dialog.Hints(s, inner, w.lock.Open(), hints...)...))
}

// lines returns the explanation and the error.
func (w *welcome) lines(width int) []string {
	lines := strings.Split(ansi.Wrap(w.text(), width, ""), "\n")
	if w.found.err != nil {
		lines = append(lines, "")
		for line := range strings.SplitSeq(ansi.Wrap(sanitize.Marked(fault.Text(w.found.err)), width, ""), "\n") {
			lines = append(lines, w.shared.Styles.Bad.Render(line))
		}
	}
	return lines
}

// text explains what is available.
func (w *welcome) text() string {
	if len(w.found.models) == 0 {
		return strings.TrimRight(sanitize.Text(w.found.help), "\n")
	}
	var b strings.Builder
	b.WriteString("Pawl reads, edits and runs code for you. First choose a model and a permission mode.\n\n")
	b.WriteString("Available models:\n")
	count := map[string]int{}
	var providers []string
	for _, m := range w.found.models {
		if count[m.Provider]++; count[m.Provider] == 1 {
			providers = append(providers, m.Provider)
		}
	}
	for i, p := range providers {
		if i == maxProviders {
			fmt.Fprintf(&b, "  and %d more providers\n", len(providers)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %d\n", sanitize.Line(p), count[p])
	}
	sandboxNote := "No sandbox is available: commands run with all of your permissions. Run `pawl doctor` to see how to enable one."
	if w.found.folder.Sandbox != "" && w.found.folder.Sandbox != "none" {
		sandboxNote = fmt.Sprintf("Commands run in a sandbox (%s).", sanitize.Line(w.found.folder.Sandbox))
	}
	b.WriteString("\n" + sandboxNote)
	return b.String()
}

// maxProviders is how many providers are listed.
const maxProviders = 8
