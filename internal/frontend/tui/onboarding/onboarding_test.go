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
		{"no model", service{models: models()}, "", []string{"*onboarding.setup"}},
		{"a folder that brings something", service{folder: pawl.Project{Model: "m", Trust: unknown}}, "", []string{"*dialog.Trust"}},
		{"one that is trusted", service{folder: pawl.Project{Model: "m", Trust: trusted}}, "", nil},
		{"one that has changed", service{folder: pawl.Project{Model: "m", Trust: pawl.TrustInfo{State: "changed", Parts: []string{"a"}}}}, "", []string{"*dialog.Trust"}},
		{"one that brings nothing", service{folder: pawl.Project{Model: "m", Trust: pawl.TrustInfo{State: "unknown"}}}, "", nil},
		{"both: trust is on top", service{folder: pawl.Project{Trust: unknown}}, "", []string{"*onboarding.setup", "*dialog.Trust"}},
		{"no desk", service{err: pawl.ErrUnavailable}, "m", nil},
		{"no desk, no model", service{err: pawl.ErrUnavailable}, "", []string{"*onboarding.setup"}},
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
	case "ctrl+s":
		return tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl}
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
		case Chosen, Left, ui.Notice, ui.Failed:
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

// fakeAccounts has one source of each kind. Its server requires a key, and only "good" works.
type fakeAccounts struct {
	logins []Login
	keep   bool
	models []string
}

var errRejected = errors.New("rejected")

func (*fakeAccounts) Sources(context.Context) ([]Source, error) {
	return []Source{
		{Kind: More, Provider: "groq", Name: "Groq", Model: "groq/x"},
		{Kind: Demo, Name: "Demo", Detail: "scripted", Model: "demo"},
		{Kind: Server, Provider: "custom", Name: "OpenAI-compatible server", Location: "the keyring"},
		{Kind: Key, Provider: "openai", Name: "OpenAI\x1b[2J", Model: "openai/gpt", Location: "the keyring"},
		{Kind: Ready, Provider: "anthropic", Name: "Anthropic", Detail: "key found: ANTHROPIC_API_KEY", Model: "anthropic/sonnet"},
	}, nil
}

func (a *fakeAccounts) Connect(_ context.Context, l Login) (Connected, error) {
	a.logins = append(a.logins, l)
	switch {
	case l.Kind == Server && l.APIKey == "":
		return Connected{}, ErrNeedsKey
	case (l.Kind == Key || l.Kind == Server) && l.APIKey != "good" && !l.Untested:
		return Connected{}, errRejected
	}
	models := a.models
	if models == nil {
		models = []string{l.Model}
	}
	return Connected{Models: models, Note: "Saved the key", Keep: a.keep}, nil
}

func (*fakeAccounts) Stored(context.Context) ([]Source, error) {
	return []Source{{Provider: "openai", Name: "OpenAI", Detail: "keyring"}}, nil
}

func (*fakeAccounts) Logout(_ context.Context, provider string) (string, error) {
	return "Deleted " + provider, nil
}

// opened returns the dialog with its sources.
func opened(t *testing.T, o Options) ui.Dialog {
	t.Helper()
	d := New(shared(t, &service{models: models()}), o, "")
	accounts := o.Accounts
	if accounts == nil {
		accounts = serverModels{&service{models: models()}}
	}
	sources, err := accounts.Sources(t.Context())
	d.Update(sourcesMsg{sources, err})
	return d
}

func TestSetupScreens(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][]string{
		"sources": nil,
		"key":     {"down", "enter", "b", "a", "d"},
		"failed":  {"down", "enter", "b", "a", "d", "enter"},
		"server":  {"down", "down", "enter", "h", "t", "t", "p"},
		"models":  {"enter"},
	} {
		for _, size := range [][2]int{{40, 24}, {80, 24}} {
			d, _ := walk(t, opened(t, Options{Accounts: &fakeAccounts{models: []string{"a/b", "a/c"}}}), names...)
			view := d.View(size[0], size[1])
			if strings.Contains(ansi.Strip(view), "bad") {
				t.Errorf("%s shows the key", name)
			}
			golden(t, fmt.Sprintf("%s_%d", name, size[0]), view)
		}
	}
}

// TestSetup says what is stored and reported for each way through the dialog.
func TestSetup(t *testing.T) {
	t.Parallel()
	key := func(s string) []string { return strings.Split(s, "") }
	for _, c := range []struct {
		name   string
		keys   []string
		keep   bool
		want   tea.Msg
		logins []Login
	}{
		{"ready", []string{"enter"}, true, Chosen{"anthropic/sonnet", "Model: anthropic/sonnet (your default now). Saved the key"}, []Login{{}}},
		{"not kept", []string{"enter"}, false, Chosen{"anthropic/sonnet", "Model: anthropic/sonnet. Saved the key"}, []Login{{}}},
		{"key", append([]string{"down", "enter"}, append(key("good"), "enter")...), true, Chosen{"openai/gpt", "Model: openai/gpt (your default now). Saved the key"}, []Login{{APIKey: "good"}}},
		{"wrong key, then another", append(append([]string{"down", "enter"}, append(key("bad"), "enter")...), append(key("good"), "enter")...), true,
			Chosen{"openai/gpt", "Model: openai/gpt (your default now). Saved the key"}, []Login{{APIKey: "bad"}, {APIKey: "good"}}},
		{"wrong key, stored", append(append([]string{"down", "enter"}, key("bad")...), "enter", "ctrl+s"), true,
			Chosen{"openai/gpt", "Model: openai/gpt (your default now). Saved the key"}, []Login{{APIKey: "bad"}, {APIKey: "bad", Untested: true}}},
		{"not stored before a test", append(append([]string{"down", "enter"}, key("bad")...), "ctrl+s"), true, nil, nil},
		{"no key", []string{"down", "enter", "enter"}, true, nil, nil},
		{"server", append(append(append([]string{"down", "down", "enter"}, key("http://x")...), "enter"), append(key("good"), "enter")...), true,
			Chosen{"", "Model:  (your default now). Saved the key"}, []Login{{URL: "http://x"}, {URL: "http://x", APIKey: "good"}}},
		{"back and away", []string{"down", "enter", "x", "esc", "esc"}, true, Left{}, nil},
	} {
		a := &fakeAccounts{keep: c.keep}
		_, out := walk(t, opened(t, Options{Accounts: a, Save: func(string) (bool, error) { return true, nil }}), c.keys...)
		var got tea.Msg
		if len(out) > 0 {
			got = out[0]
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		for i := range a.logins {
			a.logins[i].Source = Source{}
		}
		if diff := cmp.Diff(c.logins, a.logins); diff != "" {
			t.Errorf("%s: logins (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestSaveFails checks that a choice that cannot be saved still applies.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	o := Options{Accounts: &fakeAccounts{keep: true}, Save: func(string) (bool, error) { return false, errors.New("the disk is full") }}
	_, out := walk(t, opened(t, o), "enter")
	if len(out) != 2 || out[0].(Chosen).Model != "anthropic/sonnet" || !strings.Contains(out[1].(ui.Failed).Err.Error(), "the disk is full") {
		t.Errorf("got %v", out)
	}
}

// TestServerModels checks that the models of a server can be chosen without its keys.
func TestServerModels(t *testing.T) {
	t.Parallel()
	_, out := walk(t, opened(t, Options{}), "q", "w", "e", "n", "enter")
	if len(out) != 1 || out[0] != (Chosen{"ollama/qwen3:8b", "Model: ollama/qwen3:8b"}) {
		t.Errorf("got %v", out)
	}
	s := shared(t, &service{})
	if m, ok := Logout(s, nil, "openai")().(ui.Failed); !ok || !errors.Is(m.Err, pawl.ErrUnavailable) {
		t.Errorf("logout: %v", m)
	}
}

// TestTypedAhead checks that keys that were typed before the dialog was shown choose nothing.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	a := &fakeAccounts{}
	d := opened(t, Options{Accounts: a})
	d.(*setup).Shown()
	if end, out := walk(t, d, "enter", "esc"); end == nil || len(out) > 0 || len(a.logins) > 0 {
		t.Errorf("keys that were typed ahead have chosen %v", out)
	}
}

func TestLogout(t *testing.T) {
	t.Parallel()
	s := shared(t, &service{})
	open := Logout(s, &fakeAccounts{}, "")().(ui.Open)
	if _, out := walk(t, open.Dialog, "enter"); len(out) != 1 || out[0] != (ui.Notice{Text: "Deleted openai"}) {
		t.Errorf("got %v", out)
	}
	if m := Logout(s, &fakeAccounts{}, "groq")(); m != (ui.Notice{Text: "Deleted groq"}) {
		t.Errorf("got %v", m)
	}
}

// TestSecret checks that a key is not printed by accident.
func TestSecret(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, Login{APIKey: "hush"}); strings.Contains(text, "hush") {
			t.Error(text)
		}
	}
}
