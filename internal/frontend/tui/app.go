package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/frontend/tui/pager"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/rewind"
	"github.com/pawl-dev/pawl/internal/frontend/tui/subagents"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// app is the root model.
type app struct {
	shared *ui.Shared

	session    pawl.Session // as it was when opened; its ID is "" until a session is open
	settings   pawl.Settings
	outbox     outbox
	feed       *eventfeed.Feed
	lastNews   time.Time // when events were last handled
	loading    bool      // an older page is being read
	catchingUp bool      // the missed part of a reply is being read

	view        *chat.View
	editor      *editor.Editor
	dialogs     []ui.Dialog // the last one is on top
	queue       *dialog.Queue
	tasks       *subagents.Tasks
	mission     *subagents.Mission
	chatFocused bool   // keys go to the conversation
	message     string // shown in the status line until the next key
	failed      bool   // message is an error

	lists   lists
	escape  escapeState
	restore restoredPrompt // for a session that is being opened
	first   firstPrompt

	onboarding   onboarding.Options
	notifier     *notify.Notifier
	theme        themeState
	feedFailures int // consecutive failures of the event feed

	width, height int
	tooSmall      bool // the top dialog does not fit the screen
	panelTop      int  // the row of the top dialog

	program *tea.Program // nil in tests
	frames  frameLimiter
}

func newApp(s *ui.Shared, c Config) *app {
	c.Onboarding.Chosen = c.Settings.Model != "" || c.Session != "" // a session has its own model
	a := &app{
		onboarding: c.Onboarding, notifier: notify.New(c.Notify, c.env()), theme: newThemeState(c),
		shared: s, session: pawl.Session{ID: c.Session}, settings: c.Settings,
		view: chat.NewView(chat.NewLog(), s.Styles), editor: editor.New(s, c.History), queue: dialog.NewQueue(s), tasks: subagents.New(s), mission: subagents.NewMission(s), lists: newLists(s, c),
	}
	a.first.text, a.message = c.Prompt, c.Notice
	a.editor.SetSession(c.Session)
	return a
}

// olderMsg is a page of older events.
type olderMsg struct {
	session pawl.SessionID
	events  []pawl.Event
}

// Init opens the configured session, if any.
func (a *app) Init() tea.Cmd {
	begin := a.afterOnboarding(onboarding.Begin(a.shared, a.onboarding))
	if a.session.ID == "" {
		return tea.Batch(a.editor.Init(), a.theme.requestBackground(), begin)
	}
	return tea.Batch(a.editor.Init(), a.theme.requestBackground(), a.open(a.session.ID), begin)
}

// open reads the end of a session.
func (a *app) open(id pawl.SessionID) tea.Cmd {
	svc, ctx := a.shared.Service, a.shared.Context
	return func() tea.Msg {
		m, err := eventfeed.Open(ctx, svc, id)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return m
	}
}

// Update handles a message.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.frames.activity(a.program)
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		return a, a.resize(m)
	case tea.BackgroundColorMsg, tea.ColorProfileMsg:
		a.terminalColors(m)
	case eventfeed.News:
		return a, a.news(m)
	case eventfeed.Opened:
		return a, a.beforeFirstPrompt(a.opened(m))
	case onboardedMsg:
		a.first.onboarded = true
		return a, a.sendFirstPrompt()
	case firstPromptMsg:
		return a, a.sendFirstPrompt()
	case olderMsg:
		a.showOlder(m)
	case draftMsg:
		a.caughtUp(m)
	case sentMsg:
		return a, a.sent(m)
	case ui.Open:
		a.dialogs = append(a.dialogs, m.Dialog)
		return a, a.topChanged()
	case ui.Failed:
		return a, a.fail(m.Err)
	case againMsg:
		if m.feed == a.feed {
			return a, a.follow(a.session, a.view.Log.Last())
		}
	case onboarding.Chosen:
		a.settings.Model, a.message, a.failed = m.Model, m.Note, false
		return a, a.updateStatus()
	case onboarding.Left: // the dialog has closed
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
		return a, ui.Run(func() error { return a.shared.Service.Withdraw(a.shared.Context, id, m.Prompt) })
	case completion.Run:
		return a, a.run(m)
	case rewind.Ended:
		return a, a.rewound(m)
	case disarmMsg:
		a.disarm(m)
	case subagents.Tick:
		cmd, _ := a.tasks.Update(m)
		return a, tea.Batch(cmd, a.updateDialogs(m), a.lists.status.Refresh())
	case picker.Chosen, picker.Moved, picker.Closed:
		return a, a.picked(m)
	case waitingMsg:
		return a, a.showWaiting(m)
	case modesMsg:
		return a, a.listModes(m)
	case editor.SendFailed:
		return a, a.forward(msg)
	case tea.KeyPressMsg:
		return a, a.key(m)
	case tea.MouseMsg:
		return a, a.mouse(m)
	case chat.SecondMsg: // a dialog may show a conversation too
		return a, tea.Batch(a.view.Update(m), a.updateDialogs(m))
	default:
		if cmd, taken := a.queueMsg(msg); taken {
			return a, cmd
		}
		if cmd, taken := a.listMsg(msg); taken {
			return a, cmd
		}
		if cmd, taken := a.tasks.Update(msg); taken {
			return a, cmd
		}
		return a, a.forward(msg)
	}
	return a, nil
}

// showOlder shows events from before the ones that are shown.
func (a *app) showOlder(m olderMsg) {
	a.loading = false
	if m.session == a.session.ID && len(m.events) > 0 {
		a.view.Log.Prepend(m.events)
	}
}

// forward passes a message to the top dialog, or to the editor. User input goes to the
// top dialog only; other messages reach the editor below it too.
func (a *app) forward(msg tea.Msg) tea.Cmd {
	if n := len(a.dialogs); n > 0 {
		if a.tooSmall && userInput(msg) {
			return nil
		}
		if cmd, taken := a.pasteBelow(msg); taken {
			return cmd
		}
		next, cmd := a.dialogs[n-1].Update(msg)
		if cmd = a.replaceTop(next, cmd); next == nil {
			return cmd
		}
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

// key handles a key press.
func (a *app) key(k tea.KeyPressMsg) tea.Cmd {
	a.message = ""
	k, armed := splitAltEscape(k)
	armed = armed || a.escape.armed
	a.escape.armed = false
	if cmd, taken := a.helpKey(k); taken {
		return cmd
	}
	if len(a.dialogs) > 0 {
		cmd, taken := a.dialogKey(k)
		if taken {
			return cmd
		}
		return tea.Batch(cmd, a.screenKey(k, armed))
	}
	return a.screenKey(k, armed)
}

// screenKey handles a key for the conversation and the composer.
func (a *app) screenKey(k tea.KeyPressMsg, armed bool) tea.Cmd {
	if a.view.Finding() && a.shared.Keys.Action(keys.Global, k.String()) != keys.Quit {
		return tea.Batch(a.view.Update(k), a.older())
	}
	if !a.chatFocused && a.editor.Handles(k) {
		return a.editor.Update(k)
	}
	if a.chatFocused {
		if cmd, taken := a.chatKey(k); taken {
			return cmd
		}
	}
	if cmd, taken := a.globalKey(k, armed); taken {
		return cmd
	}
	if a.chatFocused {
		return nil
	}
	return a.editor.Update(k)
}

func (a *app) globalKey(k tea.KeyPressMsg, armed bool) (tea.Cmd, bool) {
	action := a.shared.Keys.Action(keys.Global, k.String())
	if name, ok := commandKeys[action]; ok {
		return a.run(completion.Run{Name: name}), true
	}
	switch action {
	case keys.Quit:
		return tea.Quit, true
	case keys.Palette:
		return a.editor.Palette(), true
	case keys.Interrupt:
		return a.interrupt(armed), true
	case keys.NextMode:
		return a.nextMode(), true
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
		a.focusChat(!a.chatFocused)
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
		a.message = "Copied"
		return tea.SetClipboard(a.view.Copy()), true
	case keys.OpenOutput:
		if blob, title := a.view.FullOutput(); blob != nil {
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
	a.chatFocused = in
	if in {
		a.view.Select(-1)
	} else {
		a.view.Unselect()
		a.view.ToEnd()
	}
}

// interrupt cancels the turn, or opens the rewind dialog if none is running.
func (a *app) interrupt(armed bool) tea.Cmd {
	if !a.view.Log.Working() {
		return a.rewindKey(armed)
	}
	id := a.session.ID
	return ui.Run(func() error { return a.shared.Service.Cancel(a.shared.Context, id) })
}

// mouse handles a mouse event: for the top dialog or, without one, for the part under
// the pointer.
func (a *app) mouse(m tea.MouseMsg) tea.Cmd {
	if len(a.dialogs) > 0 {
		return a.dialogMouse(m)
	}
	if wheel, ok := m.(tea.MouseWheelMsg); ok {
		a.wheel(wheel)
		return a.older()
	}
	return tea.Batch(a.view.Update(m), a.editor.Update(m))
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

// older reads a page of older events when the view is near the top.
func (a *app) older() tea.Cmd {
	first := a.view.Log.First()
	if a.loading || first <= 1 || !a.view.CloseToTop() {
		return nil
	}
	a.loading = true
	svc, ctx, id := a.shared.Service, a.shared.Context, a.session.ID
	return func() tea.Msg {
		events, err := eventfeed.Page(ctx, svc, id, first-1-eventfeed.PageEvents, first-1)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return olderMsg{id, events}
	}
}

// opened shows a session.
func (a *app) opened(m eventfeed.Opened) tea.Cmd {
	log := chat.NewLog()
	log.Read(m.Events)
	log.Join(m.Draft)
	a.view = chat.NewView(log, a.shared.Styles)
	a.lists.open(m.Session, m.Events)
	load := a.editor.Switch(m.Session.ID, m.Session.Dir)
	a.sessionShown(m.Session.ID)
	return tea.Batch(load, a.follow(m.Session, log.Last()), a.resume(m.Session), a.queue.Open(m.Session.ID, m.Events), a.tasks.Open(m.Session.ID, m.Events, log.Items()), a.mission.Open(m.Session, m.Events), a.syncAsks(), a.readWaiting(m.Events), a.view.Clock(), a.updateStatus())
}

// follow subscribes to a session's events.
func (a *app) follow(s pawl.Session, after pawl.Seq) tea.Cmd {
	a.feed.Close()
	a.session = s
	a.feed = eventfeed.Watch(a.shared.Context, a.shared.Service, s.ID, after)
	return a.feed.Next(a.lastNews)
}

// news handles new events.
func (a *app) news(m eventfeed.News) tea.Cmd {
	if m.Feed != a.feed { // of a dialog's feed, or of a session that is no longer shown
		return a.updateDialogs(m)
	}
	working := len(a.tasks.Working())
	var cmds []tea.Cmd
	for _, e := range m.Events {
		items := a.view.Log.Apply(e)
		a.lists.status.Apply(e)
		cmds = append(cmds, a.queue.Apply(e), a.tasks.Apply(e, items), a.mission.Apply(e), a.notify(e), a.reloadProject(e))
	}
	if len(a.tasks.Working()) < working { // a subagent has ended, and its last reply counts
		cmds = append(cmds, a.lists.status.Refresh())
	}
	a.lastNews = time.Now()
	a.feedRecovered(m)
	if m.Err != nil {
		return tea.Batch(append(cmds, a.feedLost(m.Err))...)
	}
	return tea.Batch(append(cmds, a.feed.Next(a.lastNews), a.catchUp(), a.syncAsks(), a.readWaiting(m.Events), a.view.Clock(), a.updateStatus())...)
}

// syncAsks closes the dialogs of asks that are no longer pending, and opens the dialog
// of the oldest pending ask. It does not cover a dialog that the user has opened.
func (a *app) syncAsks() tea.Cmd {
	n := len(a.dialogs)
	a.dialogs = slices.DeleteFunc(a.dialogs, func(d ui.Dialog) bool {
		ask, ok := d.(dialog.Asker)
		return ok && !a.queue.Has(ask.ID())
	})
	if len(a.dialogs) == n && n > 0 {
		return nil
	}
	return a.topChanged()
}

// topChanged tells a dialog that it is now on top. Without dialogs it opens the one of
// the next ask.
func (a *app) topChanged() tea.Cmd {
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
