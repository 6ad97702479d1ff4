package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/chat"
	"github.com/pawl-dev/pawl/internal/tui/dialog"
	"github.com/pawl-dev/pawl/internal/tui/editor"
	"github.com/pawl-dev/pawl/internal/tui/keys"
	"github.com/pawl-dev/pawl/internal/tui/pager"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// app is the whole screen.
type app struct {
	shared *ui.Shared

	session  pawl.Session // as it was when it was opened; its ID is "" until there is one
	settings pawl.Settings
	feed     *feed
	shown    time.Time // when news were last taken in
	loading  bool      // an older page is read

	view    *chat.View
	editor  *editor.Editor
	dialogs []ui.Dialog // the last is on top
	inChat  bool        // keys are for the conversation
	message string      // to the person, until the next key
	failed  bool        // it is a failure
	escaped time.Time   // when esc was last pressed

	width, height int
}

func newApp(s *ui.Shared, c Config) *app {
	return &app{
		shared: s, session: pawl.Session{ID: c.Session}, settings: c.Settings,
		view: chat.NewView(chat.NewLog(), s.Styles), editor: editor.New(s),
	}
}

// pageEvents is how many events are read at a time.
const pageEvents = 400

// openedMsg is a session that is to be shown.
type openedMsg struct {
	session pawl.Session
	events  []pawl.Event
	draft   pawl.Draft
}

// olderMsg is a page of older events.
type olderMsg struct {
	session pawl.SessionID
	events  []pawl.Event
}

// sentMsg is a prompt that was accepted.
type sentMsg struct{ session pawl.Session }

// Init opens the session, if one is named.
func (a *app) Init() tea.Cmd {
	if a.session.ID == "" {
		return nil
	}
	return a.open(a.session.ID)
}

// open reads the end of a session.
func (a *app) open(id pawl.SessionID) tea.Cmd {
	svc, ctx := a.shared.Service, a.shared.Context
	return func() tea.Msg {
		s, err := svc.Get(ctx, id)
		if err != nil {
			return ui.Failed{Err: err}
		}
		events, err := page(ctx, svc, id, max(0, s.Head-pageEvents), s.Head)
		if err != nil {
			return ui.Failed{Err: err}
		}
		draft, _ := svc.Draft(ctx, id) // none is no failure
		return openedMsg{s, events, draft}
	}
}

// page reads the events after one and up to another.
func page(ctx context.Context, svc pawl.Service, id pawl.SessionID, after, upTo pawl.Seq) ([]pawl.Event, error) {
	var events []pawl.Event
	if after >= upTo {
		return nil, nil
	}
	for e, err := range svc.Events(ctx, id, after) {
		if err != nil {
			return nil, err
		}
		if e.Seq == 0 {
			continue
		}
		events = append(events, e)
		if e.Seq >= upTo {
			break
		}
	}
	return events, nil
}

// Update takes a message.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = m.Width, m.Height
	case newsMsg:
		return a, a.news(m)
	case openedMsg:
		return a, a.opened(m)
	case olderMsg:
		a.loading = false
		if m.session == a.session.ID && len(m.events) > 0 {
			a.view.Log.Prepend(m.events)
		}
	case sentMsg:
		if a.feed == nil || a.feed.id != m.session.ID {
			return a, a.follow(m.session, 0)
		}
	case ui.Open:
		a.dialogs = append(a.dialogs, m.Dialog)
	case ui.Failed:
		a.message, a.failed = m.Err.Error(), true
	case ui.Notice:
		a.message, a.failed = m.Text, false
	case editor.Submit:
		return a, a.send(m)
	case tea.KeyPressMsg:
		return a, a.key(m)
	case tea.MouseWheelMsg:
		if len(a.dialogs) > 0 {
			return a, a.pass(m)
		}
		a.wheel(m)
		return a, a.older()
	case tea.MouseMsg:
		if len(a.dialogs) == 0 {
			return a, a.view.Update(m)
		}
	case chat.SecondMsg:
		if len(a.dialogs) > 0 { // it may show a conversation of its own
			return a, tea.Batch(a.view.Update(m), a.pass(m))
		}
		return a, a.view.Update(m)
	default:
		return a, a.pass(msg)
	}
	return a, nil
}

// pass gives a message to whoever is on top.
func (a *app) pass(msg tea.Msg) tea.Cmd {
	if n := len(a.dialogs); n > 0 {
		next, cmd := a.dialogs[n-1].Update(msg)
		if next == nil {
			a.dialogs = a.dialogs[:n-1]
		} else {
			a.dialogs[n-1] = next
		}
		return cmd
	}
	if _, pasted := msg.(tea.PasteMsg); pasted && a.view.Finding() {
		return a.view.Update(msg)
	}
	return a.editor.Update(msg)
}

// key takes a key press.
func (a *app) key(k tea.KeyPressMsg) tea.Cmd {
	a.message = ""
	if len(a.dialogs) > 0 {
		return a.pass(k)
	}
	if a.view.Finding() && a.shared.Keys.Action(keys.Global, k.String()) != keys.Quit {
		return tea.Batch(a.view.Update(k), a.older())
	}
	if a.inChat {
		if cmd, taken := a.chatKey(k); taken {
			return cmd
		}
	}
	if cmd, taken := a.globalKey(k); taken {
		return cmd
	}
	if a.inChat {
		return nil
	}
	return a.editor.Update(k)
}

// twice is how soon a second esc must come to mean more than one.
const twice = 500 * time.Millisecond

func (a *app) globalKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch a.shared.Keys.Action(keys.Global, k.String()) {
	case keys.Quit:
		return tea.Quit, true
	case keys.Interrupt:
		return a.interrupt(), true
	case keys.ScrollUp:
		a.view.Scroll(-1)
	case keys.ScrollDown:
		a.view.Scroll(1)
	case keys.PageUp:
		a.view.Scroll(-a.view.Page())
	case keys.PageDown:
		a.view.Scroll(a.view.Page())
	case keys.Top:
		a.view.ToTop()
	case keys.Bottom:
		a.view.ToEnd()
	case keys.FocusChat:
		a.focusChat(!a.inChat)
	case keys.Find:
		a.view.Find()
	default:
		return nil, false
	}
	return a.older(), true
}

func (a *app) chatKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch a.shared.Keys.Action(keys.Chat, k.String()) {
	case keys.Fold:
		a.view.Toggle()
		return nil, true
	case keys.FoldAll:
		a.view.ToggleAll()
		return nil, true
	case keys.Copy:
		a.message = "copied"
		return tea.SetClipboard(a.view.Copy()), true
	case keys.OpenOutput:
		if blob, title := a.view.Spill(); blob != nil {
			return pager.Open(a.shared, a.session.ID, title, blob.ID), true
		}
		return nil, true
	default:
	}
	switch k.String() {
	case "up", "k":
		a.view.Select(-1)
	case "down", "j":
		a.view.Select(1)
	case "/":
		a.view.Find()
	case "esc":
		a.focusChat(false)
	default:
		return nil, false
	}
	return a.older(), true
}

func (a *app) focusChat(in bool) {
	a.inChat = in
	if in {
		a.view.Select(-1)
	} else {
		a.view.Unselect()
		a.view.ToEnd()
	}
}

// interrupt ends the turn.
func (a *app) interrupt() tea.Cmd {
	if !a.view.Log.Working() {
		return nil
	}
	id := a.session.ID
	return ui.Do(func() error { return a.shared.Service.Cancel(a.shared.Context, id) })
}

func (a *app) wheel(m tea.MouseWheelMsg) {
	switch m.Button {
	case tea.MouseWheelUp:
		a.view.Scroll(-3)
	case tea.MouseWheelDown:
		a.view.Scroll(3)
	default:
	}
}

// older reads a page of older events when the top is seen.
func (a *app) older() tea.Cmd {
	first := a.view.Log.First()
	if a.loading || first <= 1 || !a.view.AtTop() {
		return nil
	}
	a.loading = true
	svc, ctx, id := a.shared.Service, a.shared.Context, a.session.ID
	return func() tea.Msg {
		events, err := page(ctx, svc, id, max(0, first-1-pageEvents), first-1)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return olderMsg{id, events}
	}
}

// opened shows a session.
func (a *app) opened(m openedMsg) tea.Cmd {
	log := chat.NewLog()
	for _, e := range m.events {
		log.Apply(e)
	}
	log.Join(m.draft)
	a.view = chat.NewView(log, a.shared.Styles)
	a.dialogs = nil
	return tea.Batch(a.follow(m.session, log.Last()), a.asks(), a.view.Clock())
}

// follow watches a session.
func (a *app) follow(s pawl.Session, after pawl.Seq) tea.Cmd {
	if a.feed != nil {
		a.feed.cancel()
	}
	a.session = s
	a.feed = watch(a.shared.Context, a.shared.Service, s.ID, after)
	return a.feed.next(a.shown)
}

// news takes in what has come.
func (a *app) news(m newsMsg) tea.Cmd {
	if m.feed != a.feed {
		return nil // of a session that is not shown any more
	}
	reload := false
	for _, e := range m.events {
		a.view.Log.Apply(e)
		if r, ok := e.Body.(pawl.Reverted); ok && r.Refused == "" {
			reload = true
		}
	}
	a.shown = time.Now()
	switch {
	case m.err != nil:
		a.message, a.failed = m.err.Error(), true
		return nil
	case reload:
		return a.open(a.session.ID)
	}
	return tea.Batch(a.feed.next(a.shown), a.asks(), a.view.Clock())
}

// asks opens the dialog of what waits for the person, and closes those of what
// does not wait any more.
func (a *app) asks() tea.Cmd {
	open := map[pawl.Seq]bool{}
	kept := a.dialogs[:0]
	for _, d := range a.dialogs {
		if p, ok := d.(interface{ Seq() pawl.Seq }); ok {
			if _, waits := a.view.Log.Ask(p.Seq()); !waits {
				continue
			}
			open[p.Seq()] = true
		}
		kept = append(kept, d)
	}
	a.dialogs = kept
	for _, seq := range a.view.Log.Asks() {
		if ask, _ := a.view.Log.Ask(seq); !open[seq] && ask.Kind == pawl.AskPermission {
			a.dialogs = append(a.dialogs, dialog.NewPermission(a.shared, a.session.ID, seq, ask))
		}
	}
	return nil
}

// send gives the session a prompt; the first one makes the session.
func (a *app) send(m editor.Submit) tea.Cmd {
	p := pawl.Prompt{Parts: m.Parts, Delivery: m.Delivery, Settings: a.settings}
	svc, ctx, s, dir := a.shared.Service, a.shared.Context, a.session, a.shared.Dir
	a.view.ToEnd()
	return func() tea.Msg {
		var err error
		if s.ID == "" {
			if s, err = svc.Create(ctx, pawl.NewSession{Dir: dir}); err != nil {
				return ui.Failed{Err: err}
			}
		}
		if _, err := svc.Send(ctx, s.ID, p); err != nil {
			return ui.Failed{Err: err}
		}
		return sentMsg{s}
	}
}
