package sessions

import (
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// doneMsg is the result of an operation on a session.
type doneMsg struct {
	id   pawl.SessionID
	then tea.Msg // a message for others; nil: only the list has changed
	err  error
}

// do runs an operation on a session.
func (d *Dialog) do(id pawl.SessionID, f func() (tea.Msg, error)) tea.Cmd {
	return func() tea.Msg {
		then, err := f()
		return doneMsg{id, then, err}
	}
}

// done shows the result or the error.
func (d *Dialog) done(m doneMsg) (ui.Dialog, tea.Cmd) {
	if m.err != nil {
		d.fault = m.err
		var busy *pawl.BusyError
		if errors.As(m.err, &busy) && busy.Holder != "" {
			d.held[m.id] = busy.Holder
		}
		if errors.Is(m.err, pawl.ErrNotFound) {
			return d, d.load() // it was deleted elsewhere
		}
		return d, nil
	}
	switch then := m.then.(type) {
	case Open:
		return nil, ui.Send(then)
	case Deleted:
		d.rows = slices.DeleteFunc(d.rows, func(s pawl.Session) bool { return s.ID == then.ID })
		d.at = max(0, min(d.at, len(d.rows)-1))
		if then.ID == d.shown {
			d.shown = ""
		}
		return d, tea.Batch(ui.Send(then), d.load())
	}
	return d, d.load()
}

// rename starts editing the title in the session's row.
func (d *Dialog) rename() {
	if s, ok := d.session(); ok {
		title := s.Name()
		d.renaming = &title
	}
}

// renameKey handles a key while a title is edited.
func (d *Dialog) renameKey(k tea.KeyPressMsg) tea.Cmd {
	switch d.shared.Keys.Action(keys.Dialog, k.String()) {
	case keys.Close:
		d.renaming = nil
	case keys.Choose:
		s, ok := d.session()
		title := *d.renaming
		d.renaming = nil
		if !ok || title == s.Name() {
			return nil
		}
		svc, ctx := d.shared.Service, d.shared.Context
		return d.do(s.ID, func() (tea.Msg, error) { return nil, svc.Rename(ctx, s.ID, title) })
	default:
		*d.renaming = textinput.LineKey(*d.renaming, k)
	}
	return nil
}

// fork forks the selected session and opens the fork.
func (d *Dialog) fork() tea.Cmd {
	s, ok := d.session()
	if !ok {
		return nil
	}
	svc, ctx := d.shared.Service, d.shared.Context
	return d.do(s.ID, func() (tea.Msg, error) {
		made, err := svc.Fork(ctx, s.ID, 0)
		return Open{made.ID}, err
	})
}

// sure asks for confirmation before the selected session is deleted.
func (d *Dialog) sure() tea.Cmd {
	s, ok := d.session()
	if !ok {
		return nil
	}
	svc, ctx := d.shared.Service, d.shared.Context
	del := d.do(s.ID, func() (tea.Msg, error) { return Deleted{s.ID}, svc.Delete(ctx, s.ID) })
	return ui.Send(ui.Open{Dialog: dialog.NewSure(d.shared, "Delete this session?", loss(s, s.ID == d.shown), "delete permanently", del)})
}

// loss describes what a deletion would lose.
func loss(s pawl.Session, shown bool) string {
	text := fmt.Sprintf("%s\n\nThis deletes the conversation (%s, %s), its outputs and its checkpoints. The files in %s do not change.",
		title(s), humanize.Plural(s.Turns, "turn"), humanize.Plural(int(s.Head), "event"), sanitize.Line(s.Dir))
	if s.State() != pawl.StateIdle {
		text += "\n\nThe session has unfinished work."
	}
	if shown {
		text += "\n\nThis session is open. A new one starts."
	}
	return text
}

// title returns the session's title, sanitized.
func title(s pawl.Session) string {
	if name := s.Name(); name != "" {
		return sanitize.Line(name)
	}
	return "(no messages yet)"
}
