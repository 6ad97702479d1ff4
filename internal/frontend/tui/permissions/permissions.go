// Package permissions shows the permission rules and the saved answers to permission
// prompts, which can be revoked.
package permissions

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// List is what applies in a directory.
type List struct {
	Rules        []Rule
	SavedAnswers []SavedAnswer
}

// Rule is a configured rule.
type Rule struct{ Text, Origin string }

// SavedAnswer is what a user always allows, or allows for a session.
type SavedAnswer struct{ ID, Text, Where string }

// Source provides the permissions of this machine; servers do not expose theirs.
type Source struct {
	List   func(ctx context.Context, dir string) (List, error)
	Revoke func(id string) error
}

// id is the picker's ID; removeKey revokes a saved answer.
const (
	id        = "permissions"
	removeKey = "ctrl+x"
)

// Dialog is the list; see [ui.Dialog].
type Dialog struct {
	shared *ui.Shared
	source Source
	dir    string
	list   List
	picker ui.Dialog
}

var _ ui.Dialog = (*Dialog)(nil)

// Open reads the permissions and shows them.
func Open(s *ui.Shared, source *Source, dir string) tea.Cmd {
	if source == nil {
		return ui.Send(ui.Failed{Err: fault.New(pawl.ErrUnavailable, "permissions are stored on the server").Hint("Run `pawl permissions list` there.")})
	}
	return func() tea.Msg {
		list, err := source.List(s.Context, dir)
		if err != nil {
			return ui.Failed{Err: err}
		}
		d := &Dialog{shared: s, source: *source, dir: dir}
		d.show(list)
		return ui.Open{Dialog: d}
	}
}

// show fills the list.
func (d *Dialog) show(list List) {
	d.list = list
	var items []picker.Item
	for _, g := range list.SavedAnswers {
		items = append(items, picker.Item{ID: g.ID, Title: g.Text, Detail: g.Where, Group: "saved answers"})
	}
	for i, r := range list.Rules {
		items = append(items, picker.Item{ID: fmt.Sprintf("rule %d", i), Title: r.Text, Group: "rules: " + r.Origin})
	}
	d.picker = picker.New(d.shared, "Permissions in this project", items, picker.Options{
		ID: id, Empty: "No rules and no saved answers.", Keys: []picker.Key{{Key: removeKey, Help: "revoke"}},
	})
}

// listMsg is the list, read again.
type listMsg struct {
	list List
	err  error
}

// Update handles a message.
func (d *Dialog) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	switch m := msg.(type) {
	case picker.Pressed:
		if m.Picker == id {
			return d, d.sure(m.ID)
		}
	case listMsg:
		if m.err != nil {
			return d, ui.Send(ui.Failed{Err: m.err})
		}
		d.show(m.list)
		return d, nil
	}
	next, cmd := d.picker.Update(msg)
	if next == nil {
		return nil, nil // nothing can be chosen
	}
	d.picker = next
	return d, cmd
}

// sure asks for confirmation before a saved answer is revoked. Rules are edited in the
// configuration.
func (d *Dialog) sure(chosen string) tea.Cmd {
	i := slices.IndexFunc(d.list.SavedAnswers, func(g SavedAnswer) bool { return g.ID == chosen })
	if i < 0 {
		return ui.Send(ui.Notice{Text: "Rules come from configuration files. Run `pawl config path` to list them."})
	}
	g := d.list.SavedAnswers[i]
	text := fmt.Sprintf("%s\nin %s\n\nPawl will ask again before it does this.", sanitize.Line(g.Text), sanitize.Line(g.Where))
	return ui.Send(ui.Open{Dialog: dialog.NewSure(d.shared, "Revoke this permission?", text, "revoke", d.revoke(g.ID))})
}

func (d *Dialog) revoke(answerID string) tea.Cmd {
	source, ctx, dir := d.source, d.shared.Context, d.dir
	return func() tea.Msg {
		if err := source.Revoke(answerID); err != nil {
			return listMsg{err: err}
		}
		list, err := source.List(ctx, dir)
		return listMsg{list, err}
	}
}

// View draws the dialog.
func (d *Dialog) View(width, height int) string { return d.picker.View(width, height) }
