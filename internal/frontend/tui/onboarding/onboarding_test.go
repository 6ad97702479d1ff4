package onboarding

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// service implements the parts of pawl.Service that describe a project and list models.
type service struct {
	pawl.Service
	folder pawl.Project
	models []pawl.ModelInfo
	err    error
}

func (d *service) Look(context.Context, string) (pawl.Project, error) { return d.folder, d.err }
func (d *service) Models(context.Context) ([]pawl.ModelInfo, error)   { return d.models, d.err }
func help(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}
func noHelpAtAll(context.Context) (string, error) { return "", errors.New("the keyring is locked") }
func models() []pawl.ModelInfo {
	return []pawl.ModelInfo{
		{Ref: "anthropic/sonnet", Provider: "anthropic", Context: 200000, Reasoning: true, Images: true},
		{Ref: "ollama/qwen3:8b", Provider: "ollama", Context: 40000},
		{Ref: "anthropic/haiku\x1b[2J", Provider: "anthropic"},
	}
}

func shared(t testing.TB, svc pawl.Service) *ui.Shared {
	t.Helper()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &ui.Shared{Service: svc, Context: t.Context(), Dir: "/p", Styles: theme.New(theme.Builtin[0]), Keys: k}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got = ansi.Strip(got) + "\n"
	uitest.Same(t, path, got)
}

// sent are the messages of a command, in order.
func sent(t *testing.T, cmd tea.Cmd) (list []tea.Msg) {
	t.Helper()
	if cmd == nil {
		return nil
	}
	msg := cmd()
	switch m := msg.(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		for _, c := range m {
			list = append(list, sent(t, c)...)
		}
		return list
	}
	if fmt.Sprintf("%T", msg) == "tea.sequenceMsg" { // a list of commands whose type has no name for us
		for _, c := range commands(msg) {
			list = append(list, sent(t, c)...)
		}
		return list
	}
	return []tea.Msg{msg}
}

// TestBegin says what a person sees first.
func TestBegin(t *testing.T) {
	t.Parallel()
	trusted := pawl.TrustInfo{State: "trusted", Parts: []string{"agent a"}}
	unknown := pawl.TrustInfo{State: "unknown", Parts: []string{"agent a"}}
	for _, c := range []struct {
		name    string
		service service
		model   string
		want    []string
	}{
		{"nothing", service{folder: pawl.Project{Model: "m"}}, "", nil},
		{"a model by flag", service{}, "m", nil},
		{"no model", service{models: models()}, "", []string{"*onboarding.welcome"}},
		{"a folder that brings something", service{folder: pawl.Project{Model: "m", Trust: unknown}}, "", []string{"*dialog.Trust"}},
		{"one that is trusted", service{folder: pawl.Project{Model: "m", Trust: trusted}}, "", nil},
		{"one that has changed", service{folder: pawl.Project{Model: "m", Trust: pawl.TrustInfo{State: "changed", Parts: []string{"a"}}}}, "", []string{"*dialog.Trust"}},
		{"one that brings nothing", service{folder: pawl.Project{Model: "m", Trust: pawl.TrustInfo{State: "unknown"}}}, "", nil},
		{"both: trust is on top", service{folder: pawl.Project{Trust: unknown}}, "", []string{"*onboarding.welcome", "*dialog.Trust"}},
		{"no desk", service{err: pawl.ErrUnavailable}, "m", nil},
		{"no desk, no model", service{err: pawl.ErrUnavailable}, "", []string{"*onboarding.welcome"}},
		{"a failure", service{err: pawl.ErrInvalid}, "m", []string{"failed"}},
	} {
		var got []string
		for _, msg := range sent(t, Begin(shared(t, &c.service), Options{Chosen: c.model != ""})) {
			switch m := msg.(type) {
			case ui.Open:
				got = append(got, fmt.Sprintf("%T", m.Dialog))
			case ui.Failed:
				got = append(got, "failed")
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestAskTrust(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{"trusted": "is trusted", "": "no configuration", "unknown": "open", "changed": "open"} {
		d := &service{folder: pawl.Project{Trust: pawl.TrustInfo{State: state}}}
		if state != "" {
			d.folder.Trust.Parts = []string{"agent a"}
		}
		got := ""
		switch m := AskTrust(shared(t, d))().(type) {
		case ui.Open:
			if _, ok := m.Dialog.(*dialog.Trust); ok {
				got = "open"
			}
		case ui.Notice:
			got = m.Text
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s", state, got)
		}
	}
}

func key(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// walk presses keys, and gives the dialog the result of each. It returns what is
// for others.
func walk(t *testing.T, d ui.Dialog, names ...string) (ui.Dialog, []tea.Msg) {
	t.Helper()
	var out []tea.Msg
	var take func(msg tea.Msg)
	take = func(msg tea.Msg) {
		switch msg.(type) {
		case Chosen, ui.Notice, ui.Failed:
			out = append(out, msg)
			return
		}
		if d == nil {
			t.Fatalf("%T comes after the end", msg)
		}
		next, cmd := d.Update(msg)
		d = next
		for _, m := range sent(t, cmd) {
			take(m)
		}
	}
	d.View(80, 24)
	for _, name := range names {
		take(key(name))
	}
	return d, out
}

func TestWelcome(t *testing.T) {
	t.Parallel()
	boxed := pawl.Project{Sandbox: "bubblewrap", Mode: "ask", Modes: []string{"plan", "ask", "guard"}}
	for _, c := range []struct {
		name    string
		service service
		help    func(context.Context) (string, error)
		keys    []string
	}{
		{"models", service{folder: boxed, models: models()}, nil, nil},
		{"list", service{folder: boxed, models: models()}, nil, []string{"enter"}},
		{"modes_boxed", service{folder: boxed, models: models()}, nil, []string{"enter", "enter"}},
		{"modes_no_box", service{folder: pawl.Project{Sandbox: "none"}, models: models()}, nil, []string{"enter", "enter"}},
		{"no_models", service{folder: boxed}, help("Pawl needs a model.\x1b[2J\n\nFound: ANTHROPIC_API_KEY"), []string{"enter"}},
		{"long_help", service{folder: boxed}, help("Pawl needs a model.\n" + strings.Repeat("\nanother way to one", 30) + " at last"), []string{"down"}},
		{"no_help", service{folder: boxed}, noHelpAtAll, nil},
		{"no_desk", service{err: pawl.ErrUnavailable}, nil, nil},
	} {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			s := shared(t, &c.service)
			o := Options{Help: c.help}
			d, _ := walk(t, newWelcome(s, o, find(s, o, c.service.folder)), c.keys...)
			golden(t, fmt.Sprintf("%s_%d", c.name, size[0]), d.View(size[0], size[1]))
		}
	}
}

// TestChoice: a model and a mode are chosen, kept, and told to the others.
func TestChoice(t *testing.T) {
	t.Parallel()
	var kept []string
	save := func(model, mode string) error {
		kept = append(kept, model+" "+mode)
		return nil
	}
	d := &service{folder: pawl.Project{Sandbox: "landlock"}, models: models()}
	s := shared(t, d)
	o := Options{Save: save}
	end, out := walk(t, newWelcome(s, o, find(s, o, d.folder)), "enter", "q", "w", "e", "n", "enter", "down", "enter")
	if end != nil {
		t.Error("it stays open")
	}
	if diff := cmp.Diff([]string{"ollama/qwen3:8b ask"}, kept); diff != "" {
		t.Errorf("kept (-want +got)\n%s", diff)
	}
	if len(out) != 2 || out[0] != (Chosen{"ollama/qwen3:8b", "ask"}) {
		t.Errorf("told %v", out)
	}

	o.Save = func(string, string) error { return errors.New("the disk is full") }
	_, out = walk(t, newWelcome(s, o, find(s, o, d.folder)), "enter", "enter", "enter")
	failed, ok := out[1].(ui.Failed)
	if out[0] != (Chosen{"anthropic/sonnet", "guard"}) || !ok || !strings.Contains(failed.Err.Error(), "the disk is full") {
		t.Errorf("a choice that cannot be kept: %v", out)
	}
	if end, out := walk(t, newWelcome(s, Options{}, find(s, o, d.folder)), "enter", "esc", "esc"); end != nil || len(out) > 0 {
		t.Errorf("later: %v %v", end, out)
	}
}

// TestTypedAhead: what was typed before the welcome was there chooses nothing.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	d := &service{models: models()}
	s := shared(t, d)
	w := newWelcome(s, Options{}, find(s, Options{}, d.folder))
	w.Shown()
	end, out := walk(t, w, "enter", "enter", "enter", "esc")
	if end == nil || w.list != nil || len(out) > 0 {
		t.Errorf("keys that were typed ahead have chosen %v", out)
	}
}

// TestLookAgain: a key that was set meanwhile is found.
func TestLookAgain(t *testing.T) {
	t.Parallel()
	d := &service{}
	s := shared(t, d)
	w := newWelcome(s, Options{}, find(s, Options{}, d.folder))
	d.models = models()
	end, _ := walk(t, w, "r")
	if view := end.View(80, 24); !strings.Contains(view, "anthropic: 2") {
		t.Errorf("not found:\n%s", view)
	}
}
