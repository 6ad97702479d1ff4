package subagents

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/chat"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// conversation shows the conversation of a subagent, read-only.
type conversation struct {
	shared *ui.Shared
	ctx    context.Context //nolint:containedctx // of the window
	id     pawl.SessionID
	title  string

	view    *chat.View
	feed    *eventfeed.Feed // nil until the end was read
	loading bool            // an older page is being read
	fault   string
}

func newConversation(s *ui.Shared, ctx context.Context, id pawl.SessionID, title string) *conversation { //nolint:revive // ctx is kept
	return &conversation{shared: s, ctx: ctx, id: id, title: title, view: chat.NewView(chat.NewLog(), s.Styles)}
}

// pageMsg is a page of events: the end, or an older one.
type pageMsg struct {
	of    *conversation
	end   eventfeed.Opened
	older []pawl.Event
	err   error
}

// againMsg triggers a reconnect of a failed feed.
type againMsg struct{ of *conversation }

// retry is the pause before a failed feed is read again.
const retry = 2 * time.Second

// read reads the end of the conversation.
func (c *conversation) read() tea.Cmd {
	svc, ctx, id := c.shared.Service, c.ctx, c.id
	return func() tea.Msg {
		end, err := eventfeed.Open(ctx, svc, id)
		return pageMsg{of: c, end: end, err: err}
	}
}

func (c *conversation) close() { c.feed.Close() }

// update handles a message. It reports whether msg was for the conversation.
func (c *conversation) update(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case pageMsg:
		if m.of != c {
			return nil, true
		}
		return c.page(m), true
	case againMsg:
		if m.of != c {
			return nil, true
		}
		return c.watch(), true
	case eventfeed.News:
		if c.feed == nil || m.Feed != c.feed {
			return nil, false
		}
		return c.news(m), true
	case chat.SecondMsg:
		return c.view.Update(m), true
	case tea.MouseWheelMsg:
		if m.Button == tea.MouseWheelUp {
			c.view.Scroll(-3)
		} else {
			c.view.Scroll(3)
		}
		return c.older(), true
	default:
		return nil, false
	}
}

// page shows events that were read.
func (c *conversation) page(m pageMsg) tea.Cmd {
	c.loading = false
	if m.err != nil {
		c.fault = fault.Text(m.err)
		return nil
	}
	if m.older != nil {
		c.view.Log.Prepend(m.older)
		return nil
	}
	c.view.Log.Read(m.end.Events)
	c.view.Log.Join(m.end.Draft)
	return tea.Batch(c.watch(), c.view.Clock())
}

// watch follows new events.
func (c *conversation) watch() tea.Cmd {
	c.feed.Close()
	c.feed = eventfeed.Watch(c.ctx, c.shared.Service, c.id, c.view.Log.Last())
	return c.feed.Next(time.Time{})
}

func (c *conversation) news(m eventfeed.News) tea.Cmd {
	for _, e := range m.Events {
		c.view.Log.Apply(e)
	}
	if m.Err != nil {
		c.fault = fmt.Sprintf("connection lost, reconnecting: %v", m.Err)
		return tea.Tick(retry, func(time.Time) tea.Msg { return againMsg{c} })
	}
	c.fault = ""
	return tea.Batch(c.feed.Next(time.Now()), c.view.Clock())
}

// older reads a page of older events when the top is visible.
func (c *conversation) older() tea.Cmd {
	first := c.view.Log.First()
	if c.loading || first <= 1 || !c.view.AtTop() {
		return nil
	}
	c.loading = true
	svc, ctx, id := c.shared.Service, c.ctx, c.id
	return func() tea.Msg {
		events, err := eventfeed.Page(ctx, svc, id, first-1-eventfeed.PageEvents, first-1)
		return pageMsg{of: c, older: events, err: err}
	}
}

// key scrolls, and opens and folds cards.
func (c *conversation) key(name string) tea.Cmd {
	dialog, global := c.shared.Keys.Either(name, keys.InTasks, keys.Dialog), c.shared.Keys.Action(keys.Global, name)
	switch {
	case dialog == keys.Up || global == keys.ScrollUp:
		c.view.Scroll(-1)
	case dialog == keys.Down || global == keys.ScrollDown:
		c.view.Scroll(1)
	case global == keys.PageUp:
		c.view.Scroll(-c.view.Page())
	case global == keys.PageDown || name == "space":
		c.view.Scroll(c.view.Page())
	case global == keys.Top || name == "home":
		c.view.ToTop()
	case global == keys.Bottom || name == "end":
		c.view.ToEnd()
	case c.shared.Keys.Action(keys.Chat, name) == keys.FoldAll:
		c.view.ToggleAll()
	}
	return c.older()
}

// draw draws the conversation over the whole screen.
func (c *conversation) draw(width, height int, foot string) string {
	s := c.shared.Styles
	c.view.Resize(width, max(1, height-3))
	rows := []string{layout.Fill(width, "", layout.Span{Text: " " + sanitize.Line(c.title), SGR: layout.SGROf(s.Bold)})}
	for _, line := range c.view.Render() {
		rows = append(rows, line+strings.Repeat(" ", max(0, width-ansi.StringWidth(line))))
	}
	rows = append(rows, s.Border.Render(strings.Repeat("─", width)))
	if c.fault != "" {
		foot = s.Bad.Render(sanitize.Line(c.fault))
	}
	foot = ansi.Truncate(" "+foot, width, "…")
	return strings.Join(append(rows, foot+strings.Repeat(" ", max(0, width-ansi.StringWidth(foot)))), "\n")
}
