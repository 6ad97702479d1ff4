package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
)

// TestCatchesUp: what was missed of a reply is asked for once, and shown when it comes.
func TestCatchesUp(t *testing.T) {
	t.Parallel()
	a := dressed(t, Config{Env: []string{"LANG=de_DE.UTF-8"}})
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	a.session, a.feed = pawl.Session{ID: "s"}, &eventfeed.Feed{}
	news := func(events ...pawl.Event) { a.Update(eventfeed.News{Feed: a.feed, Events: events}) }
	delta := func(offset int, text string) pawl.Event {
		return pawl.Event{Session: "s", Turn: 1, Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: offset, Text: text}}
	}
	shown := func(text string) bool { return strings.Contains(ansi.Strip(a.View().Content), text) }

	news(pawl.Event{Session: "s", Seq: 1, Turn: 1, Body: pawl.ReplyStarted{Step: 1}}, delta(0, "first "))
	if a.catchingUp || !shown("first") {
		t.Fatal("it reads anew though nothing is missing, or nothing is shown")
	}
	news(delta(13, "third"))
	if !a.catchingUp || shown("third") {
		t.Fatal("that a piece is missing is not noticed")
	}
	a.Update(draftMsg{"other", pawl.Draft{Reply: 1, Text: "of another session"}})
	if shown("another") {
		t.Error("a draft of another session is shown")
	}
	a.Update(draftMsg{"s", pawl.Draft{Reply: 1, Text: "first second third"}})
	if a.catchingUp || !shown("first second third") {
		t.Errorf("it is not shown: %s", ansi.Strip(a.View().Content))
	}
}
