package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// press gives the app keys by their names.
func (s *screen) press(names ...string) {
	for _, name := range names {
		s.give(uitest.Key(name))
	}
}

// idle waits until the prompt is worked on.
func (s *screen) idle(said string) {
	s.t.Helper()
	s.until(said+" is said, and the turn is over", func() bool { return s.shows(said)() && !s.view.Log.Working() })
}

// counts waits until a key is taken, which is bold then.
func (s *screen) counts(key, does string) {
	s.t.Helper()
	s.until(key+" counts", func() bool { return strings.Contains(s.View().Content, "\x1b[1m"+key+"\x1b[m "+does) })
}

// twoTurns is a screen after two turns that wrote a file.
func twoTurns(t *testing.T) *screen {
	t.Helper()
	s := newScreen(t, `{"calls":[{"name":"write","input":{"path":"a","content":"one"}}]}`, `{"text":"One."}`,
		`{"calls":[{"name":"edit","input":{"path":"a","old":"one","new":"two"}}]}`, `{"text":"Two."}`, `{"text":"At it.","fault":"hang"}`)
	s.settings.Mode = "yolo"
	s.give(tea.WindowSizeMsg{Width: 80, Height: 30})
	s.typed("first\r")
	s.idle("One.")
	s.typed("second\r")
	s.idle("Two.")
	return s
}

// file is what the file of the two turns holds.
func (s *screen) file() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.shared.Dir, "a"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// TestEscape: the key that interrupts, pressed twice, goes back; while pawl works
// or something is written it does not, and not if the second press comes late.
func TestEscape(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := twoTurns(t)
	s.press("esc")
	s.says(t, "Press esc again to rewind")
	s.until("the time for it is over", func() bool { return !s.escape.armed })
	if s.press("esc"); len(s.dialogs) > 0 {
		t.Error("a late second press went back")
	}
	s.typed("x")
	if s.press("esc", "esc"); len(s.dialogs) > 0 || s.message != "" {
		t.Error("it went back though something is written")
	}
	s.press("ctrl+u", "esc", "esc")
	s.until("the messages are shown", s.shows("› second", "first", "Undo 3 messages", "modify  a"))
	s.press("esc")
	s.give(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt}) // both presses at once
	s.until("the messages are shown", s.shows("› second", "first"))
	s.press("esc")

	s.typed("third\r")
	s.until("it works", func() bool { return s.view.Log.Working() })
	s.press("esc", "esc")
	s.until("it was interrupted", s.shows("Canceled"))
	if len(s.dialogs) > 0 || s.escape.armed {
		t.Error("it went back while pawl worked")
	}
}

// TestUndo: the newest turn is undone after it was seen, its words come back
// to the editor, and redo brings all of it back.
func TestUndo(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := twoTurns(t)
	s.typed("/undo\r")
	s.until("the plan is shown", s.shows("Undo the last turn", "from second", "1 - two", "1 + one"))
	s.counts("enter", "undo")
	s.press("enter")
	s.until("it went back", func() bool { return s.editor.Text() == "second" && s.shows("/redo to restore")() })
	s.until("the conversation is the old one", func() bool { return !s.shows("Two.")() && s.shows("One.")() })
	if s.file() != "one" || len(s.dialogs) > 0 {
		t.Errorf("the file is %q, %d dialogs", s.file(), len(s.dialogs))
	}
	s.give(completion.Run{Name: "redo"})
	s.until("the plan is shown", s.shows("Redo", "Redo 3 messages"))
	s.counts("enter", "redo")
	s.press("enter")
	s.until("it is there again", s.shows("Two.", "Redid 3 messages"))
	if s.file() != "two" || s.editor.Text() != "" {
		t.Errorf("the file is %q, %q is written", s.file(), s.editor.Text())
	}
	s.typed("/redo\r")
	s.until("there is no more", s.shows("nothing to redo"))
}

// TestForkHere: another session begins before a message, with its words to be sent
// again; this one stays.
func TestForkHere(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := twoTurns(t)
	from := s.session.ID
	s.typed("/rewind\r")
	s.until("the messages are shown", s.shows("› second", "modify  a"))
	s.counts("f", "fork here")
	s.press("f")
	s.until("another session is shown", func() bool { return s.session.ID != from && s.editor.Text() == "second" })
	s.says(t, "Forked. The files are unchanged.")
	s.says(t, "One.")
	if s.shows("Two.")() {
		t.Error("it did not begin before the message")
	}
	if _, err := s.shared.Service.Get(t.Context(), from); err != nil || s.file() != "two" {
		t.Errorf("%v, the file is %q", err, s.file())
	}
}

// TestNoWayBack: without a session, and while pawl works, it is said why not.
func TestNoWayBack(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t)
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.typed("/undo\r")
	s.until("there is no session", s.shows("no session yet"))
	if s.press("esc", "esc"); len(s.dialogs) > 0 {
		t.Error("it went back to nothing")
	}
	s.typed("one\r")
	s.until("it works", func() bool { return s.view.Log.Working() })
	s.typed("/rewind\r")
	s.until("it is busy", s.shows("Wait until the turn ends"))
	if _, err := s.shared.Service.Undo(t.Context(), s.session.ID, pawl.Undo{}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("it was not: %v", err)
	}
}
