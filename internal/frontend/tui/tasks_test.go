package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
)

// TestTasks: what a session has others do is said above the prompt while it is
// done, can be looked at live, read and ended; the session goes on then.
func TestTasks(t *testing.T) { //nolint:paralleltest // it sets environment variables
	lines := `{"text":"I begin.","calls":[{"name":"bash","input":{"command":"echo at it; until [ -e go ]; do sleep 0.02; done; while sleep 0.1; do printf 'gone %s' on; echo; done"}}],"usage":{"output":7,"cost":3000000}}`
	s := newScreen(t,
		`{"calls":[{"name":"bash","input":{"command":"echo served; sleep 600","background":true}},{"name":"task","input":{"agent":"explore","prompt":"look","description":"look around","background":true}}]}`,
		`{"calls":[{"name":"task","input":{"agent":"general","prompt":"wait","description":"wait for it"},"script":"child.jsonl"}]}`,
		`{"text":"It came back."}`,
		`{"agent":"explore","text":"Nothing here."}`)
	main, _ := strings.CutPrefix(s.settings.Model, "script:")
	if err := os.WriteFile(filepath.Join(filepath.Dir(main), "child.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s.settings.Mode = "yolo"
	s.give(tea.WindowSizeMsg{Width: 80, Height: 30})
	s.typed("give tasks\r")
	s.until("it is said above the prompt", s.shows("1 subagent working: wait for it (", "ctrl+b"))

	s.press("ctrl+b")
	s.until("both are listed", s.shows("wait for it", "general  working", "$0.0030", "at it", "look around", "explore  done", "Nothing here.", "job_1  running", "served"))
	if err := os.WriteFile(filepath.Join(s.shared.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.until("more is heard of it", s.shows("gone on"))
	s.press("enter")
	s.until("it is read", s.shows("┃ wait", "I begin.", "esc back"))
	s.press("esc")
	s.until("the list is there again", s.shows("explore  done"))

	s.press("x")
	s.says(t, `Press x again to stop "wait for it"`)
	s.press("x")
	s.until("it was ended", s.shows("general  canceled"))
	s.press("down", "down", "x")
	s.says(t, "to stop job_1 now")
	s.press("esc")
	s.until("the session went on", s.shows("It came back."))
	if s.shows("1 subagent working")() {
		t.Error("it is still said that a task works")
	}
	rows, err := s.shared.Service.List(t.Context(), pawl.Filter{Parent: s.session.ID, Unfinished: true})
	if err != nil || len(rows.Sessions) > 0 {
		t.Errorf("%d work, %v", len(rows.Sessions), err)
	}

	s.press("ctrl+b")
	s.until("both are listed again", s.shows("general  canceled", "Nothing here."))
	s.press("enter")
	s.until("one that is over is read too", s.shows("┃ wait", "Canceled"))
	s.press("esc", "esc")
	if len(s.dialogs) > 0 {
		t.Error("it does not close")
	}
}
