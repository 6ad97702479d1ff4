package onboarding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// IDs of the pickers.
const (
	sourceList = "setup.source"
	modelList  = "setup.model"
	logoutList = "setup.logout"
)

// setup connects Pawl to a model: the user chooses a source, enters what it needs, and
// the source is tested and stored.
type setup struct {
	shared  *ui.Shared
	options Options
	lock    *dialog.Lock
	query   string // of the list of sources, at first

	sources []Source
	list    *picker.Picker // nil while an entry is shown
	entry   *entry         // nil while a list is shown
	login   Login
	note    string // about the stored key
	keep    bool   // the model becomes the default
	stop    context.CancelFunc
	attempt int // number of the last test; results of earlier ones are ignored
}

// New returns the dialog to connect to a model. query filters its sources.
func New(s *ui.Shared, o Options, query string) ui.Dialog {
	if o.Accounts == nil {
		o.Accounts = serverModels{s.Service}
	}
	d := &setup{shared: s, options: o, lock: dialog.NewLock(), query: query}
	d.list = d.sourcePicker("Looking for keys and local models …")
	return d
}

// sourcesMsg is the result of looking for sources.
type sourcesMsg struct {
	sources []Source
	err     error
}

// connectedMsg is the result of a test.
type connectedMsg struct {
	attempt   int
	connected Connected
	err       error
}

// savedMsg is the result of saving the default model.
type savedMsg struct {
	model string
	saved bool
	err   error
}

// Shown starts the lock and, at first, looks for sources.
func (d *setup) Shown() tea.Cmd {
	find := func() tea.Msg {
		sources, err := d.options.Accounts.Sources(d.shared.Context)
		return sourcesMsg{sources, err}
	}
	if d.sources != nil {
		find = nil
	}
	return tea.Batch(d.lock.Shut(), find)
}

// Update handles a message.
func (d *setup) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case sourcesMsg:
		return d, d.found(m)
	case connectedMsg:
		if m.attempt == d.attempt {
			return d, d.tested(m)
		}
		return d, nil
	case savedMsg:
		return nil, d.done(m)
	case picker.Chosen:
		return d, d.choose(m)
	case picker.Closed:
		if m.Picker == modelList {
			d.list, d.entry = d.sourcePicker(""), nil
			return d, nil
		}
		return nil, ui.Send(Left{})
	}
	if cmd, ok := d.lock.Settled(msg); ok {
		return d, cmd
	}
	if _, key := msg.(tea.KeyPressMsg); key && !d.lock.Takes() {
		return d, nil
	}
	if d.entry != nil {
		return d, d.enter(msg)
	}
	_, cmd := d.list.Update(msg) // its messages close it
	return d, cmd
}

// View draws the list or the entry.
func (d *setup) View(width, height int) string {
	d.lock.Drawn()
	if d.entry != nil {
		return d.entry.view(d.shared, width, height, d.lock.Open())
	}
	return d.list.View(width, height)
}

func (d *setup) sourcePicker(empty string) *picker.Picker {
	title := d.options.Title
	if title == "" {
		title = "Log in"
	}
	return picker.New(d.shared, title, sourceItems(d.sources), picker.Options{ID: sourceList, Query: d.query, Empty: empty, Active: d.lock.Open})
}

// found shows the sources.
func (d *setup) found(m sourcesMsg) tea.Cmd {
	d.sources = m.sources
	d.list = d.sourcePicker("No models are available. Configure one on the server.")
	if m.err != nil {
		return ui.Send(ui.Failed{Err: m.err})
	}
	return nil
}

// groups are the headings of the kinds.
var groups = map[Kind]string{Ready: "ready to use", Key: "paste an API key", Server: "other", Demo: "other", More: "more providers: paste an API key"}

func sourceItems(sources []Source) []picker.Item {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b Source) int { return int(a.Kind) - int(b.Kind) })
	var items []picker.Item
	for _, s := range sources {
		items = append(items, picker.Item{ID: s.id(), Title: s.Name, Detail: s.Detail, Group: groups[s.Kind]})
	}
	return items
}

// id identifies a source in the list.
func (s Source) id() string { return fmt.Sprintf("%d %s %s", s.Kind, s.Provider, s.Model) }

// choose handles a choice from a picker.
func (d *setup) choose(m picker.Chosen) tea.Cmd {
	if m.Picker == modelList {
		return d.save(m.ID)
	}
	i := slices.IndexFunc(d.sources, func(s Source) bool { return s.id() == m.ID })
	if i < 0 {
		return nil
	}
	d.login = Login{Source: d.sources[i]}
	switch d.login.Kind {
	case Key, More:
		d.entry = d.keyEntry()
	case Server:
		d.entry = &entry{title: d.login.Name, label: "URL", text: "Enter the base URL of the server, such as https://llm.example.org/v1."}
	case Ready, Demo:
		d.entry = &entry{title: d.login.Name, fixed: true}
		return d.connect()
	}
	return nil
}

// keyEntry returns the entry for an API key.
func (d *setup) keyEntry() *entry {
	text := "Paste your API key. Pawl tests it with one small request, then stores it in " + d.login.Location + "."
	return &entry{title: d.login.Name, label: "API key", text: text, hidden: true}
}

// enter handles input for the entry.
func (d *setup) enter(msg tea.Msg) tea.Cmd {
	end, cmd := d.entry.update(d.shared, msg)
	switch end {
	case entryLeft:
		d.cancel()
		d.list, d.entry = d.sourcePicker(""), nil
	case entryDone, entryUntested:
		d.login.Untested = end == entryUntested
		if value := strings.TrimSpace(d.entry.value); d.entry.hidden {
			d.login.APIKey = Secret(value)
		} else if !d.entry.fixed {
			d.login.URL = value
		}
		return d.connect()
	default:
	}
	return cmd
}

// connect tests the source in the background.
func (d *setup) connect() tea.Cmd {
	d.cancel()
	d.attempt++
	ctx, stop := context.WithCancel(d.shared.Context)
	d.stop, d.entry.busy, d.entry.err = stop, true, nil
	login, attempt, accounts := d.login, d.attempt, d.options.Accounts
	return func() tea.Msg {
		defer stop()
		c, err := accounts.Connect(ctx, login)
		return connectedMsg{attempt, c, err}
	}
}

// cancel ends a test.
func (d *setup) cancel() {
	if d.stop != nil {
		d.stop()
	}
	d.attempt++
}

// tested continues after a test: with the model, with a key, or with the error.
func (d *setup) tested(m connectedMsg) tea.Cmd {
	d.entry.busy = false
	switch {
	case errors.Is(m.err, ErrNeedsKey) && !d.entry.hidden:
		d.entry = d.keyEntry()
		return nil
	case m.err != nil:
		d.entry.err = m.err
		if d.entry.hidden && !d.login.Untested {
			d.entry.retry = true
		}
		return nil
	}
	d.note, d.keep = m.connected.Note, m.connected.Keep
	if len(m.connected.Models) == 1 {
		return d.save(m.connected.Models[0])
	}
	var items []picker.Item
	for _, ref := range m.connected.Models {
		items = append(items, picker.Item{ID: ref, Title: ref})
	}
	d.list, d.entry = picker.New(d.shared, "Choose a model", items, picker.Options{ID: modelList, Empty: "The server has no models"}), nil
	return nil
}

// save makes a model the default, unless one is configured.
func (d *setup) save(model string) tea.Cmd {
	save := d.options.Save
	if save == nil || !d.keep {
		return ui.Send(savedMsg{model: model})
	}
	return func() tea.Msg {
		saved, err := save(model)
		return savedMsg{model, saved, err}
	}
}

// done reports the choice. If saving failed, it still applies to this process.
func (d *setup) done(m savedMsg) tea.Cmd {
	text := "Model: " + m.model
	if m.saved {
		text += " (your default now)"
	}
	if d.note != "" {
		text += ". " + d.note
	}
	chosen := ui.Send(Chosen{Model: m.model, Note: text})
	if m.err != nil {
		return tea.Sequence(chosen, ui.Send(ui.Failed{Err: fmt.Errorf("the choice applies until Pawl exits, because it could not be saved: %w", m.err)}))
	}
	return chosen
}
