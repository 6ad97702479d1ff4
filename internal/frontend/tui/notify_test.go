package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// drawn is an app of 80 to 24 cells that was drawn once.
func drawn(t *testing.T) *app {
	t.Helper()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := newApp(&ui.Shared{Context: t.Context(), Styles: theme.New(theme.Builtin[0]), Keys: k}, Config{Env: []string{}})
	a.session = pawl.Session{ID: "s", Prompt: "do it"}
	a.feed = &eventfeed.Feed{}
	a.queue.Open("s", nil)
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	a.View()
	return a
}

func (a *app) says(t *testing.T, text string) {
	t.Helper()
	if view := ansi.Strip(a.View().Content); !strings.Contains(view, text) {
		t.Errorf("the screen does not say %q:\n%s", text, view)
	}
}

// give gives the app events, as its feed does.
func give(a *app, err error, events ...pawl.Event) tea.Cmd {
	_, cmd := a.Update(eventfeed.News{Feed: a.feed, Events: events, Err: err})
	return cmd
}

// TestMissionNotices checks that a user who has left the terminal is notified when a mission is sealed or blocked,
// but not of each step.
func TestMissionNotices(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	a.notifier = notify.New(notify.Bell, nil)
	a.Update(tea.BlurMsg{})
	for _, c := range []struct {
		body pawl.Body
		want string
	}{
		{pawl.Sealed{Candidate: "1a2b3c4d5e6f"}, "pawl: mission: sealed at 1a2b3c4d: do it\x1b\\\a"},
		{pawl.Blocked{Reason: "no \x1b[2Jkey"}, `pawl: mission: blocked: no \u{1b}[2Jkey: do it` + "\x1b\\\a"},
		{pawl.TaskMerged{Task: "T1"}, ""},
		{pawl.GateResult{}, ""},
	} {
		got := ""
		if cmd := a.notify(pawl.Event{Body: c.body}); cmd != nil {
			got = fmt.Sprint(cmd().(tea.RawMsg).Msg)
		}
		if got != c.want && got != "\x1b]9;"+c.want {
			t.Errorf("%T: %q, want %q", c.body, got, c.want)
		}
	}
}

// TestFailures: a failure says what to do next; a long one opens a dialog.
func TestFailures(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	a.Update(ui.Failed{Err: fmt.Errorf("session x: %w", pawl.ErrBusy)})
	a.says(t, "session x: busy. Wait until the turn ends, or interrupt it.")
	a.Update(ui.Failed{Err: errors.New(strings.Repeat("a long story ", 20) + "\nwith an end")})
	a.says(t, "Error")
	a.says(t, "with an end")
	a.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	if len(a.dialogs) != 0 {
		t.Error("it does not close")
	}
}

// TestLost: a lost feed is reported and read again; what is written stays.
func TestLost(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	a.editor.SetText("half a prompt")
	if give(a, fmt.Errorf("dial: %w", pawl.ErrUnavailable)) == nil {
		t.Error("it is not tried again")
	}
	a.says(t, "connection lost, reconnecting")
	a.says(t, "half a prompt")
	give(a, nil)
	a.says(t, "Reconnected")
	shown := a.feed
	a.Update(againMsg{&eventfeed.Feed{}}) // of a session that is not shown any more
	if a.feed != shown {
		t.Error("another feed is read")
	}
}

// TestTitle: the window says whether pawl works or asks.
func TestTitle(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	steps := []struct {
		event pawl.Body
		want  string
	}{
		{pawl.SessionTitled{Title: "Fix \x1b]0;it"}, `pawl: Fix \u{1b}]0;it`},
		{pawl.TurnStarted{}, `● pawl: Fix \u{1b}]0;it`},
		{pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop}}, `? pawl: Fix \u{1b}]0;it`},
		{pawl.Answered{Ask: 3}, `● pawl: Fix \u{1b}]0;it`},
		{pawl.TurnFinished{Reason: pawl.ReasonEndTurn}, `pawl: Fix \u{1b}]0;it`},
	}
	for i, s := range steps {
		give(a, nil, pawl.Event{Seq: pawl.Seq(i + 1), Body: s.event})
		if got := a.View().WindowTitle; got != s.want {
			t.Errorf("%T: %q, want %q", s.event, got, s.want)
		}
	}
}

// TestNotices: who looks elsewhere is informed that pawl waits or is done, and nobody else.
func TestNotices(t *testing.T) {
	t.Parallel()
	asked := pawl.Event{Seq: 1, Body: pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop}}}
	done := pawl.Event{Seq: 2, Body: pawl.TurnFinished{Reason: pawl.ReasonEndTurn}}
	canceled := pawl.Event{Seq: 3, Body: pawl.TurnFinished{Reason: pawl.ReasonCanceled}}
	a := drawn(t)
	for _, e := range []pawl.Event{asked, done} {
		if a.notify(e) != nil {
			t.Errorf("%T: who looks is told", e.Body)
		}
	}
	a.Update(tea.BlurMsg{})
	for e, want := range map[*pawl.Event]string{&asked: "waiting for you: do it", &done: "done: do it", &canceled: ""} {
		got := ""
		if cmd := a.notify(*e); cmd != nil {
			got = fmt.Sprint(cmd().(tea.RawMsg).Msg)
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%T: told %q, want %q", e.Body, got, want)
		}
	}
}

// TestAsks: what is asked comes one after the other, does not cover what the
// person has opened, and waits until it was seen.
func TestAsks(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	a.Update(ui.Open{Dialog: dialog.NewFailure(a.shared, errors.New("mine"))})
	a.Update(ui.Open{Dialog: dialog.NewFailure(a.shared, errors.New("another"))})
	give(a, nil, pawl.Event{Seq: 1, Body: pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop, Text: "one"}}},
		pawl.Event{Seq: 2, Body: pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop, Text: "two"}}})
	a.says(t, "another")
	a.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	a.says(t, "mine")
	_, cmd := a.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	a.says(t, "one")
	a.says(t, "1 more waiting")
	if cmd == nil {
		t.Error("it does not begin to settle")
	}
	if a.syncAsks() != nil {
		t.Error("news that are not about it make it settle anew: it could not be answered while much comes")
	}
	if _, cmd := a.Update(tea.KeyPressMsg{Code: 'y', Text: "y"}); cmd != nil {
		t.Error("a key that came right after it was an answer")
	}
	give(a, nil, pawl.Event{Seq: 3, Body: pawl.Answered{Ask: 1}})
	a.says(t, "two")
	a.Update(dialog.Resolved{ID: dialog.ID{Session: "s", Seq: 2}})
	if len(a.dialogs) != 0 {
		t.Error("what was answered is still asked")
	}
	a.Update(onboarding.Chosen{Model: "m"})
	if a.settings.Model != "m" {
		t.Errorf("the choice does not hold: %+v", a.settings)
	}
}
