package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/chat"
	"github.com/pawl-dev/pawl/internal/tui/complete"
	"github.com/pawl-dev/pawl/internal/tui/dialog"
	"github.com/pawl-dev/pawl/internal/tui/editor"
	"github.com/pawl-dev/pawl/internal/tui/first"
	"github.com/pawl-dev/pawl/internal/tui/keys"
	"github.com/pawl-dev/pawl/internal/tui/notify"
	"github.com/pawl-dev/pawl/internal/tui/pager"
	"github.com/pawl-dev/pawl/internal/tui/picker"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

// app is the whole screen.
type app struct {
	shared *ui.Shared

	session  pawl.Session // as it was when it was opened; its ID is "" until there is one
	settings pawl.Settings
	outbox   outbox
	feed     *feed
	shown    time.Time // when news were last taken in
	loading  bool      // an older page is read

	view    *chat.View
	editor  *editor.Editor
	dialogs []ui.Dialog // the last is on top
	queue   *dialog.Queue
	inChat  bool   // keys are for the conversation
	message string // to the person, until the next key
	failed  bool   // it is a failure

	first    first.Options
	notifier *notify.Notifier
	looks    looks
	lost     int // how often in a row the feed was lost

	width, height int
	cramped       bool // what is on top does not fit on the screen
}

func newApp(s *ui.Shared, c Config) *app {
	c.First.Chosen = c.Settings.Model != "" || c.Session != "" // a session has its own
	a := &app{
		first: c.First, notifier: notify.New(c.Notify, c.env()), looks: newLooks(c),
		shared: s, session: pawl.Session{ID: c.Session}, settings: c.Settings,
		view: chat.NewView(chat.NewLog(), s.Styles), editor: editor.New(s, c.History), queue: dialog.NewQueue(s),
	}
	a.editor.Become(c.Session)
	return a
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

// Init opens the session, if one is named.
func (a *app) Init() tea.Cmd {
	if a.session.ID == "" {
		return tea.Batch(a.editor.Init(), a.looks.ask(), first.Begin(a.shared, a.first))
	}
	return tea.Batch(a.editor.Init(), a.looks.ask(), a.open(a.session.ID), first.Begin(a.shared, a.first))
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
		return a, a.resize(m)
	case tea.BackgroundColorMsg, tea.ColorProfileMsg:
		a.told(m)
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
		return a, a.sent(m)
	case ui.Open:
		a.dialogs = append(a.dialogs, m.Dialog)
		return a, a.uncovered()
	case ui.Failed:
		return a, a.fail(m.Err)
	case againMsg:
		if m.feed == a.feed {
			return a, a.follow(a.session, a.view.Log.Last())
		}
	case first.Chosen:
		a.settings.Model, a.settings.Mode = m.Model, m.Mode
	case tea.FocusMsg, tea.BlurMsg:
		a.notifier.Update(msg)
	case ui.Notice:
		a.message, a.failed = m.Text, false
	case editor.Submit:
		return a, a.send(m)
	case editor.Shell:
		return a, a.shell(m)
	case editor.Withdraw:
		id := a.session.ID
		return a, ui.Do(func() error { return a.shared.Service.Withdraw(a.shared.Context, id, m.Prompt) })
	case complete.Run:
		return a, a.run(m)
	case showMsg:
		return a, a.open(m.id)
	case picker.Chosen:
		if cmd, taken := a.chosen(m); taken {
			return a, cmd
		}
		return a, a.pass(msg)
	case picker.Moved, picker.Closed:
		if a.tried(m) {
			return a, nil
		}
		return a, a.pass(msg)
	case editor.Back, editor.Waiting:
		return a, a.pass(msg)
	case tea.KeyPressMsg:
		return a, a.key(m)
	case tea.MouseWheelMsg:
		if len(a.dialogs) > 0 {
			return a, a.pass(msg)
		}
		a.wheel(m)
		return a, a.older()
	case tea.MouseMsg:
		if len(a.dialogs) > 0 {
			return a, a.pass(msg)
		}
		return a, tea.Batch(a.view.Update(m), a.editor.Update(msg)) // each knows its place
	case chat.SecondMsg:
		if len(a.dialogs) > 0 { // it may show a conversation of its own
			return a, tea.Batch(a.view.Update(m), a.pass(m))
		}
		return a, a.view.Update(m)
	default:
		if cmd, taken := a.heard(msg); taken {
			return a, cmd
		}
		return a, a.pass(msg)
	}
	return a, nil
}

// pass gives a message to whoever is on top. What the person does is for the one
// on top alone; answers find their way to the editor below it.
func (a *app) pass(msg tea.Msg) tea.Cmd {
	if n := len(a.dialogs); n > 0 {
		if a.cramped && unseen(msg) {
			return nil
		}
		next, cmd := a.dialogs[n-1].Update(msg)
		if next == nil {
			a.dialogs = a.dialogs[:n-1]
			return tea.Batch(cmd, a.uncovered())
		}
		a.dialogs[n-1] = next
		switch msg.(type) {
		case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg, tea.ClipboardMsg:
			return cmd
		}
		return tea.Batch(cmd, a.editor.Update(msg))
	}
	if _, pasted := msg.(tea.PasteMsg); pasted && a.view.Finding() {
		return a.view.Update(msg)
	}
	return a.editor.Update(msg)
}

// key takes a key press.
func (a *app) key(k tea.KeyPressMsg) tea.Cmd {
	a.message = ""
	if cmd, taken := a.helpKey(k); taken {
		return cmd
	}
	if n := len(a.dialogs); n > 0 {
		if a.cramped {
			return a.crampedKey(k)
		}
		if d, ok := a.dialogs[n-1].(dialog.Asker); ok && !d.Typing() && a.shared.Keys.Action(keys.Global, k.String()) == keys.Quit {
			return tea.Quit // what is asked waits in the log
		}
		return a.pass(k)
	}
	if a.view.Finding() && a.shared.Keys.Action(keys.Global, k.String()) != keys.Quit {
		return tea.Batch(a.view.Update(k), a.older())
	}
	if !a.inChat && a.editor.Takes(k) {
		return a.editor.Update(k)
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

func (a *app) globalKey(k tea.KeyPressMsg) (tea.Cmd, bool) {
	action := a.shared.Keys.Action(keys.Global, k.String())
	if name, ok := commandKeys[action]; ok {
		return a.run(complete.Run{Name: name}), true
	}
	switch action {
	case keys.Quit:
		return tea.Quit, true
	case keys.Palette:
		return a.editor.Palette(), true
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
	case keys.EntryUp:
		a.view.Select(-1)
	case keys.EntryDown:
		a.view.Select(1)
	case keys.FindHere:
		a.view.Find()
	case keys.LeaveChat:
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
	return tea.Batch(a.editor.Switch(m.session.ID, m.session.Dir), a.follow(m.session, log.Last()), a.queue.Open(m.session.ID, m.events), a.asks(), a.waiting(m.events), a.view.Clock())
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
	var cmds []tea.Cmd
	for _, e := range m.events {
		a.view.Log.Apply(e)
		cmds = append(cmds, a.queue.Apply(e), a.tell(e))
		if r, ok := e.Body.(pawl.Reverted); ok && r.Refused == "" {
			reload = true
		}
	}
	a.shown = time.Now()
	a.found(m)
	switch {
	case m.err != nil:
		return tea.Batch(append(cmds, a.lose(m.err))...)
	case reload:
		return a.open(a.session.ID)
	}
	return tea.Batch(append(cmds, a.feed.next(a.shown), a.asks(), a.waiting(m.events), a.view.Clock())...)
}

// asks closes the dialogs of what does not wait any more, and opens that of what
// has waited longest. What the person has opened is not covered.
func (a *app) asks() tea.Cmd {
	n := len(a.dialogs)
	a.dialogs = slices.DeleteFunc(a.dialogs, func(d ui.Dialog) bool {
		ask, ok := d.(dialog.Asker)
		return ok && !a.queue.Has(ask.ID())
	})
	if len(a.dialogs) == n && n > 0 {
		return nil
	}
	return a.uncovered()
}

// uncovered tells the dialog that has come to be on top. Without one it is that of
// what is asked.
func (a *app) uncovered() tea.Cmd {
	if len(a.dialogs) == 0 {
		next, ok := a.queue.Front()
		if !ok {
			return nil
		}
		a.dialogs = append(a.dialogs, dialog.New(a.shared, next, a.queue.Len))
	}
	if d, ok := a.dialogs[len(a.dialogs)-1].(interface{ Shown() tea.Cmd }); ok {
		return d.Shown()
	}
	return nil
}
