package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/sessions"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

func (s *screen) untilShown(what string) {
	s.t.Helper()
	s.until(what, s.shows(what))
}

// TestDeleteShown: who deletes the session on the screen is in a new one, and the
// list is still there.
func TestDeleteShown(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newScreen(t)
	s.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.typed("one\r")
	s.until("it works", func() bool { return s.view.Log.Working() })
	id := s.session.ID
	s.give(uitest.Key("ctrl+s"))
	s.untilShown("• one")

	s.give(uitest.Key("ctrl+x"))
	s.untilShown("Delete this session?")
	sure, ok := s.dialogs[len(s.dialogs)-1].(*dialog.Sure)
	if !ok {
		t.Fatal("it is not asked")
	}
	if s.give(uitest.Key("y")); len(s.dialogs) != 2 {
		t.Fatal("a key answers before the question was seen")
	}
	s.dialogs = s.dialogs[:1] // as a yes does
	s.give(sure.Do())         // it is at work
	s.untilShown("busy: ")

	s.start(s.interrupt(false))
	s.until("it is idle", func() bool { return !s.view.Log.Working() })
	s.until("it is deleted", func() bool {
		s.give(sure.Do())
		_, err := s.shared.Service.Get(s.shared.Context, id)
		return errors.Is(err, pawl.ErrNotFound)
	})
	s.until("a new one is shown", func() bool { return s.session.ID == "" })
	if len(s.dialogs) != 1 {
		t.Errorf("%d dialogs", len(s.dialogs))
	}
	s.untilShown("No sessions yet")
}

// TestModes: the key goes through the modes at once; yolo is for who began with it.
func TestModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		settings pawl.Settings
		folder   pawl.Project
		presses  int
		want     []string
	}{
		{"from none", pawl.Settings{}, pawl.Project{}, 5, []string{"plan", "ask", "guard", "auto", "plan"}},
		{"from the folder's", pawl.Settings{}, pawl.Project{Mode: "guard"}, 2, []string{"auto", "plan"}},
		{"of those that are permitted", pawl.Settings{}, pawl.Project{Mode: "ask", Modes: []string{"plan", "ask"}}, 3, []string{"plan", "ask", "plan"}},
		{"yolo at the start", pawl.Settings{Mode: "yolo"}, pawl.Project{Mode: "ask"}, 6, []string{"plan", "ask", "guard", "auto", "yolo", "plan"}},
		{"yolo in the configuration", pawl.Settings{}, pawl.Project{Mode: "yolo"}, 5, []string{"plan", "ask", "guard", "auto", "yolo"}},
		{"yolo that is not permitted", pawl.Settings{Mode: "yolo"}, pawl.Project{Mode: "ask", Modes: []string{"plan", "ask", "guard"}}, 4, []string{"plan", "ask", "guard", "plan"}},
		{"out of the planner", pawl.Settings{Agent: "plan"}, pawl.Project{Mode: "guard"}, 1, []string{"ask"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &projectService{folder: c.folder}
			shared := uitest.Shared(t, d, "plain")
			a := newApp(shared, Config{Settings: c.settings, Env: []string{}})
			a.Update(a.editor.Switch("", "/work/here")())
			var got []string
			for range c.presses {
				_, cmd := a.Update(uitest.Key("shift+tab"))
				if notice, ok := cmd().(ui.Notice); !ok || notice.Text != "Permission mode from the next prompt: "+a.settings.Mode {
					t.Errorf("it is not said: %v", notice)
				}
				got = append(got, a.settings.Mode)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if a.settings.Agent != "" {
				t.Errorf("the agent is %s, which has a mode of its own", a.settings.Agent)
			}
		})
	}
}

// projectService implements the parts of pawl.Service that describe a project.
type projectService struct {
	pawl.Service
	folder pawl.Project
}

func (d *projectService) Look(context.Context, string) (pawl.Project, error) { return d.folder, nil }

// TestModesWait: the list of modes waits until it is known which of them holds, but not for ever.
func TestModesWait(t *testing.T) {
	t.Parallel()
	d := &projectService{folder: pawl.Project{Mode: "guard", Modes: []string{"plan", "guard"}}}
	a := newApp(uitest.Shared(t, d, "plain"), Config{Env: []string{}})
	looked := a.editor.Switch("", "/work/here")
	tried, ok := a.chooseMode("")().(modesMsg)
	if !ok {
		t.Fatal("it does not wait")
	}
	if opened, ok := a.listModes(modesTries)().(ui.Open); !ok || opened.Dialog == nil {
		t.Error("it waits for ever")
	}
	a.Update(looked())
	_, cmd := a.Update(tried)
	opened, ok := cmd().(ui.Open)
	if !ok {
		t.Fatal("it still waits")
	}
	_, cmd = opened.Dialog.Update(uitest.Key("enter"))
	if chosen := cmd(); chosen != (picker.Chosen{Picker: pickMode, ID: "guard"}) {
		t.Errorf("it begins with %v", chosen)
	}
}

// TestNoYolo: the name does not help either.
func TestNoYolo(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	if failed, ok := a.chooseMode("yolo")().(ui.Failed); !ok || !errors.Is(failed.Err, pawl.ErrInvalid) || a.settings.Mode != "" {
		t.Errorf("the mode is %q", a.settings.Mode)
	}
}

// TestModelItems: what was used lately comes first, each once, with its window and
// prices.
func TestModelItems(t *testing.T) {
	t.Parallel()
	list := []pawl.ModelInfo{
		{Ref: "a/one", Name: "One", Provider: "A", Context: 200_000, Input: pawl.MoneyOf(3), Output: pawl.MoneyOf(15)},
		{Ref: "a/two", Name: "a/two", Provider: "A"},
		{Ref: "b/three", Name: "Three", Provider: "B", Context: 32_768},
	}
	var got []string
	for _, i := range modelItems(list, []pawl.Session{{Model: "gone/x"}, {Model: "b/three"}, {Model: ""}, {Model: "b/three"}, {Model: "a/two"}}) {
		got = append(got, i.Group+"|"+i.ID+"|"+i.Detail)
	}
	want := []string{"recent|b/three|Three · 32.8k", "recent|a/two|", "A|a/one|One · 200k · $3 in $15 out"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestStrip: the list of what is to be done is above the prompt, a line until it is
// opened and never more than a third of the screen; the cursor is in the prompt.
func TestStrip(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	a.shared.Keys = uitest.Shared(t, nil, "plain").Keys
	bare := a.View().Cursor.Y
	if cmd := a.toggleTodos(); cmd == nil {
		t.Error("it is not said that there is no list")
	}
	var todos []pawl.Todo
	for range 20 {
		todos = append(todos, pawl.Todo{Content: "do it", Status: pawl.TodoPending})
	}
	give(a, nil, pawl.Event{Seq: 1, Body: pawl.TodosSet{Todos: todos}})
	for _, open := range []bool{false, true, false} {
		view := a.View()
		lines := strings.Split(ansi.Strip(view.Content), "\n")
		n := len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.Contains(l, "do it") }))
		if open && n != 24/3-1 || !open && n != 1 {
			t.Errorf("open %v: %d items", open, n)
		}
		if len(lines) != 24 || view.Cursor.Y != bare {
			t.Errorf("open %v: %d lines, the cursor is in %d, not in %d", open, len(lines), view.Cursor.Y, bare)
		}
		a.Update(uitest.Key("ctrl+t"))
	}
}

// TestExport: the session goes to a file by the function that was given; failures
// are reported.
func TestExport(t *testing.T) {
	t.Parallel()
	var asked []string
	c := Config{Env: []string{}, Export: func(_ context.Context, id pawl.SessionID, file string) (string, error) {
		asked = append(asked, string(id)+" "+file)
		if file == "bad" {
			return "", errors.New("no")
		}
		return "/work/here/" + file, nil
	}}
	shared := uitest.Shared(t, nil, "plain")
	shared.Dir = "/work/here"
	a := newApp(shared, c)
	if failed, ok := a.exportTo("x.md")().(ui.Failed); !ok || !errors.Is(failed.Err, pawl.ErrInvalid) {
		t.Error("without a session it is no failure")
	}
	a.session.ID = "s"
	if notice, ok := a.exportTo("x.md")().(ui.Notice); !ok || !strings.HasPrefix(notice.Text, "Exported to x.md") {
		t.Errorf("%v", notice)
	}
	if failed, ok := a.exportTo("bad")().(ui.Failed); !ok || failed.Err.Error() != "no" {
		t.Errorf("%v", failed)
	}
	if diff := cmp.Diff([]string{"s x.md", "s bad"}, asked); diff != "" {
		t.Error(diff)
	}
	a.lists.export = nil
	if failed, ok := a.exportTo("x.md")().(ui.Failed); !ok || !errors.Is(failed.Err, pawl.ErrUnavailable) {
		t.Errorf("%v", failed)
	}
}

// TestOpenSame: the session that is on the screen is not read again.
func TestOpenSame(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	if cmd, taken := a.listMsg(sessions.Open{ID: "s"}); cmd != nil || !taken {
		t.Error("it is opened again")
	}
	if cmd, taken := a.listMsg(sessions.Open{ID: "other"}); cmd == nil || !taken {
		t.Error("another is not opened")
	}
}

// TestStatus: the line says what holds now, and what the next prompt brings.
func TestStatus(t *testing.T) {
	t.Parallel()
	a := drawn(t)
	a.settings = pawl.Settings{Model: "a/next", Mode: "ask"}
	a.says(t, "a/next · ask")
	give(a, nil, pawl.Event{Seq: 1, Body: pawl.Prompted{Settings: pawl.Settings{Model: "b/now", Mode: "guard"}}}, pawl.Event{Seq: 2, Body: pawl.TurnStarted{Prompt: 1}})
	a.says(t, "b/now · guard, next: ask")
	give(a, nil, pawl.Event{Seq: 3, Body: pawl.TurnFinished{}})
	a.says(t, "a/next · ask")
}
