package tui

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// screen is an app over a real service. Without a script its model writes for as
// long as the test runs.
type screen struct {
	*app
	t    *testing.T
	news chan tea.Msg
}

func newScreen(t *testing.T, lines ...string) *screen {
	t.Helper()
	if lines == nil {
		lines = []string{`{"text":"I am at it","fault":"hang"}`}
	}
	script := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(script, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	svc := servicetest.Local(t).Service
	t.Cleanup(cancel)
	shared := &ui.Shared{Service: svc, Context: ctx, Dir: t.TempDir(), Styles: theme.New(theme.Builtin[3]), Keys: k}
	return &screen{newApp(shared, Config{Settings: pawl.Settings{Model: "script:" + script}, Env: []string{}}), t, make(chan tea.Msg)}
}

// start has a command done beside the test, as the program would.
func (s *screen) start(cmd tea.Cmd) {
	if cmd != nil {
		go func() {
			select {
			case s.news <- cmd():
			case <-s.shared.Context.Done():
			}
		}()
	}
}

// give gives the app a message, and has done the result.
func (s *screen) give(msg tea.Msg) {
	if v := reflect.ValueOf(msg); msg != nil && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		for i := range v.Len() {
			s.start(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	_, cmd := s.Update(msg)
	s.start(cmd)
}

// until takes messages until something holds.
func (s *screen) until(what string, holds func() bool) {
	s.t.Helper()
	late := time.After(time.Minute)
	for !holds() {
		select {
		case msg := <-s.news:
			s.give(msg)
		case <-s.shared.Context.Done():
			s.t.Fatalf("ended before: %s", what)
		case <-late:
			s.t.Fatalf("not within a minute: %s; the screen:\n%s", what, ansi.Strip(s.View().Content))
		}
	}
}

// shows says whether all parts are on the screen.
func (s *screen) shows(parts ...string) func() bool {
	return func() bool {
		view := ansi.Strip(s.View().Content)
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(view, p) })
	}
}

func (s *screen) typed(text string) {
	for _, r := range text {
		k := tea.KeyPressMsg{Text: string(r), Code: r}
		switch r {
		case '\r':
			k = tea.KeyPressMsg{Code: tea.KeyEnter}
		case '\x11':
			k = tea.KeyPressMsg{Code: 'q', Mod: tea.ModCtrl}
		}
		s.give(k)
	}
}

// waits are the prompts that wait, by the service.
func (s *screen) waits() []string {
	s.t.Helper()
	list, err := s.shared.Service.Waiting(s.shared.Context, s.session.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for _, w := range list {
		texts = append(texts, w.Prompt.Parts.Text())
	}
	return texts
}

// TestOvertaken: an answer which prompts wait does not count once it is asked again.
func TestOvertaken(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t)
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.typed("one\r")
	s.until("there is a session", func() bool { return s.session.ID != "" })
	prompted := []pawl.Event{{Body: pawl.Prompted{}}}
	s.readWaiting(prompted)
	first := waitingMsg{s.lists.waitingQuery, editor.Waiting{Session: s.session.ID, List: []pawl.Waiting{{Seq: 9, Prompt: pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "is taken in by now"}}}}}}}
	s.readWaiting(prompted)
	s.give(waitingMsg{s.lists.waitingQuery, editor.Waiting{Session: s.session.ID}})
	s.give(first)
	if s.lists.queued != 0 || strings.Contains(s.View().Content, "by now") {
		t.Errorf("the older answer won:\n%s", s.View().Content)
	}
}

// TestOutbox: what is sent before there is a session goes to one session, in its
// order, and is shown above the prompt; what waits can be withdrawn and reworded.
func TestOutbox(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t)
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.typed("one\rtwo\x11three\x11typed ahead")
	s.until("both are listed", s.shows("queued · two\nqueued · three\n› typed ahead"))
	s.until("the first is taken in", func() bool { return cmp.Equal([]string{"two", "three"}, s.waits()) })
	all, err := s.shared.Service.List(s.shared.Context, pawl.Filter{})
	if err != nil || len(all.Sessions) != 1 {
		t.Errorf("%d sessions, %v", len(all.Sessions), err)
	}

	s.give(tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModAlt})
	s.give(tea.KeyPressMsg{Code: tea.KeyBackspace})
	s.until("one is gone", func() bool { return !strings.Contains(s.View().Content, "three") })
	s.give(tea.KeyPressMsg{Code: tea.KeyEnter})
	s.typed(" more\r")
	s.until("the other has other words", s.shows("queued · two more\n› typed ahead"))
	if diff := cmp.Diff([]string{"two more"}, s.waits()); diff != "" {
		t.Error(diff)
	}
}

// TestRefused: a prompt that the service refuses comes back.
func TestRefused(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t)
	s.settings.Model = "script:/nowhere"
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.typed("one\r")
	if s.editor.Text() != "" {
		t.Fatal("it was not sent")
	}
	s.until("it is there again, and it is said why", func() bool { return s.editor.Text() == "one" && s.failed })
}

// TestShell: a command of the person is run and shown, also before there is a
// session, and what is written after it is sent.
func TestShell(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t)
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	shows := func(text string) func() bool {
		return func() bool { return strings.Contains(ansi.Strip(s.View().Content), text) }
	}
	s.typed("!echo $((40+2)); exit 3\r")
	s.until("its output is shown", shows("  42\n"))
	s.until("and its end", shows("! echo $((40+2)); exit 3 · exit 3"))
	s.typed("!echo be''gun; exec sleep 1000\r")
	s.until("what another prints is shown while it runs", shows("  begun\n"))
	s.give(tea.KeyPressMsg{Code: tea.KeyEscape})
	s.until("it is canceled", shows("exec sleep 1000 · canceled"))
	s.typed("one\r")
	s.until("the prompt is taken in", shows("I am"))
	s.typed("!true\r")
	s.until("the command waits", shows("! true · waiting for the turn to end"))
}
