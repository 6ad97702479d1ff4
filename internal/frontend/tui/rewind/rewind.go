// Package rewind is the dialog for undo, redo, rewind and fork. It shows first what
// would change.
//
// A rewind can be undone, so one key applies it; but not a key that was pressed before
// the plan was visible, and only what was shown is done.
package rewind

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Kind is the kind of operation.
type Kind int

// The kinds.
const (
	Back Kind = iota // to before a message that the user chooses
	Undo             // the last turn
	Redo             // the last undo
	Fork             // a new session from before a message that the user chooses
)

// Dialog is the window; see [ui.Dialog].
type Dialog struct {
	shared  *ui.Shared
	session pawl.SessionID
	kind    Kind
	now     func() time.Time

	messages []Message // nil until they were read
	at, top  int       // the selected message, the first visible one
	listed   int       // visible messages, as drawn last
	closely  bool      // the plan of one is shown in full
	scope    pawl.Scope

	previews map[pawl.Undo]*preview
	round    int                // number of the last plan
	cancel   context.CancelFunc // of the plan that is being made
	lock     *dialog.Lock
	pane     dialog.Pane
	fault    string // why nothing was done
	doing    bool
}

var _ ui.Dialog = (*Dialog)(nil)

// New returns the dialog for a session.
func New(s *ui.Shared, id pawl.SessionID, k Kind) *Dialog {
	return &Dialog{shared: s, session: id, kind: k, now: time.Now, closely: k == Undo || k == Redo, lock: dialog.NewLock()}
}

// Shown is called when the dialog comes to the top. It reads the messages.
func (d *Dialog) Shown() tea.Cmd {
	if d.messages == nil && !d.closely {
		return tea.Batch(d.lock.Shut(), d.list())
	}
	return tea.Batch(d.lock.Shut(), d.preview(0))
}

// listedMsg are the messages.
type listedMsg struct {
	dialog *Dialog
	list   []Message
	err    error
}

func (d *Dialog) list() tea.Cmd {
	svc, ctx, id := d.shared.Service, d.shared.Context, d.session
	return func() tea.Msg {
		list, err := read(ctx, svc, id)
		return listedMsg{d, list, err}
	}
}

// message returns the selected message.
func (d *Dialog) message() (Message, bool) {
	if d.at >= len(d.messages) {
		return Message{}, false
	}
	return d.messages[d.at], true
}

// Update handles a message.
func (d *Dialog) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	if cmd, ok := d.lock.Settled(msg); ok {
		return d, cmd
	}
	switch m := msg.(type) {
	case listedMsg:
		if m.dialog == d {
			return d.fill(m)
		}
	case restedMsg:
		if m.dialog == d {
			return d, d.rested(m)
		}
	case previewMsg:
		if m.dialog == d {
			return d.came(m)
		}
	case tea.MouseWheelMsg:
		return d, d.wheel(m)
	case tea.KeyPressMsg:
		return d.key(m)
	}
	return d, nil
}

// fill shows the messages.
func (d *Dialog) fill(m listedMsg) (ui.Dialog, tea.Cmd) {
	switch {
	case m.err != nil:
		return nil, ui.Send(ui.Failed{Err: fmt.Errorf("read the messages: %w", m.err)})
	case len(m.list) == 0:
		return nil, ui.Send(ui.Notice{Text: "No messages yet"})
	}
	if d.messages = m.list; d.kind == Fork {
		d.messages = append([]Message{{}}, m.list...) // the first one stands for all
	}
	return d, d.preview(0)
}

// came shows a plan, and starts the lock.
func (d *Dialog) came(m previewMsg) (ui.Dialog, tea.Cmd) {
	if d.nothing(m) {
		return nil, ui.Send(ui.Failed{Err: m.err})
	}
	d.take(m)
	if order, ok := d.order(); d.closely && ok && order == m.order {
		return d, d.lock.Shut()
	}
	return d, nil
}

func (d *Dialog) key(k tea.KeyPressMsg) (ui.Dialog, tea.Cmd) {
	if d.closely {
		return d.closeKey(k.String())
	}
	name := k.String()
	switch d.shared.Keys.Either(name, keys.InRewind, keys.Dialog) {
	case keys.Close:
		d.stop()
		return nil, nil
	case keys.Up:
		return d, d.move(-1)
	case keys.Down:
		return d, d.move(1)
	case keys.Choose:
		return d, d.choose()
	case keys.ForkHere:
		if d.lock.Takes() {
			return d, d.fork()
		}
		return d, nil
	default:
	}
	switch d.shared.Keys.Action(keys.Global, name) {
	case keys.PageUp:
		return d, d.move(-max(1, d.listed-1))
	case keys.PageDown:
		return d, d.move(max(1, d.listed-1))
	default:
	}
	switch name {
	case "home":
		return d, d.move(-len(d.messages))
	case "end":
		return d, d.move(len(d.messages))
	}
	return d, nil
}

// move moves the selection.
func (d *Dialog) move(by int) tea.Cmd {
	to := max(0, min(d.at+by, len(d.messages)-1))
	if to == d.at || d.doing {
		return nil
	}
	d.at, d.fault = to, ""
	d.pane = dialog.Pane{}
	return d.preview(pause)
}

// choose shows the plan in full, or forks.
func (d *Dialog) choose() tea.Cmd {
	if _, ok := d.message(); !ok || d.doing {
		return nil
	}
	if d.kind == Fork {
		if d.lock.Takes() {
			return d.fork()
		}
		return nil
	}
	d.closely, d.pane = true, dialog.Pane{}
	return tea.Batch(d.preview(0), d.lock.Shut())
}

// closeKey handles a key while a plan is shown in full.
func (d *Dialog) closeKey(name string) (ui.Dialog, tea.Cmd) {
	action := d.shared.Keys.Either(name, keys.InRewind, keys.Dialog)
	if action == keys.Close {
		return d.back()
	}
	if d.doing || d.pane.Key(d.shared.Keys, name, true) {
		return d, nil
	}
	switch action {
	case keys.NextScope:
		return d, d.nextScope()
	case keys.Choose:
		if d.ready() && !d.conflicts() && d.lock.Takes() {
			return d, d.do(pawl.ConflictsRefuse)
		}
	case keys.BackUpChanged:
		if d.conflicts() && d.lock.Takes() {
			return d, d.do(pawl.ConflictsAside)
		}
	case keys.Leave:
		if d.conflicts() && d.lock.Takes() {
			return d, d.do(pawl.ConflictsLeave)
		}
	default:
	}
	return d, nil
}

// back returns to the list, or closes the dialog if it does not exist.
func (d *Dialog) back() (ui.Dialog, tea.Cmd) {
	if d.kind != Back || d.doing {
		d.stop()
		return nil, nil
	}
	d.closely, d.fault, d.scope = false, "", pawl.ScopeBoth
	d.pane = dialog.Pane{}
	return d, d.preview(0)
}

// scopes are the scopes in the order in which they are offered.
var scopes = []pawl.Scope{pawl.ScopeBoth, pawl.ScopeFiles, pawl.ScopeConversation}

func (d *Dialog) nextScope() tea.Cmd {
	if d.kind == Redo {
		return nil // a redo has the scope of its undo
	}
	for i, s := range scopes {
		if s == d.scope {
			d.scope = scopes[(i+1)%len(scopes)]
			break
		}
	}
	d.fault, d.pane = "", dialog.Pane{}
	return tea.Batch(d.preview(0), d.lock.Shut())
}

// ready reports whether a plan is shown that changes something.
func (d *Dialog) ready() bool {
	l := d.selectedPreview()
	return l != nil && l.err == nil && (l.plan.Scope.Conversation() || len(l.plan.Files) > 0)
}

// conflicts reports whether files conflict: then the user must choose what happens to
// them.
func (d *Dialog) conflicts() bool {
	return d.ready() && len(d.selectedPreview().plan.Conflicting()) > 0
}

func (d *Dialog) wheel(m tea.MouseWheelMsg) tea.Cmd {
	switch {
	case d.closely:
		d.pane.Wheel(m)
		return nil
	case m.Button == tea.MouseWheelUp:
		return d.move(-1)
	case m.Button == tea.MouseWheelDown:
		return d.move(1)
	default:
		return nil
	}
}
