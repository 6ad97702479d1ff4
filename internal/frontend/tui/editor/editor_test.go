package editor

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// service implements the parts of pawl.Service that describe a project and expand prompts.
type service struct {
	pawl.Service
	folder pawl.Project
	files  []string
	got    []pawl.Prompt // what was to be expanded
	expand func(pawl.Prompt) (pawl.Prompt, []string, error)
}

func (d *service) Look(context.Context, string) (pawl.Project, error) { return d.folder, nil }

func (d *service) Files(context.Context, string, string, int) ([]string, error) { return d.files, nil }

func (d *service) Expand(_ context.Context, _ string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	d.got = append(d.got, p)
	if d.expand != nil {
		return d.expand(p)
	}
	return p, nil, nil
}

// stage is an editor, and what it has sent.
type stage struct {
	*Editor
	t       testing.TB
	service *service
	env     map[string]string
	sent    []tea.Msg
}

func newStage(t testing.TB, store history.Store) *stage {
	t.Helper()
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	th, _ := theme.Find("plain", nil)
	d := &service{
		folder: pawl.Project{Commands: []pawl.CommandInfo{{Name: "review", Arguments: "<branch>"}, {Name: "check"}}, Agents: []pawl.AgentInfo{{Name: "explore"}}},
		files:  []string{"app.go", "internal/app_test.go"},
	}
	s := &stage{Editor: New(&ui.Shared{Service: d, Context: t.Context(), Dir: "/work", Styles: theme.New(th), Keys: k}, store), t: t, service: d, env: map[string]string{}}
	s.Editor.env = func(name string) string { return s.env[name] }
	s.complete.Pause = 0
	s.SetWidth(80)
	s.do(s.Init())
	return s
}

// do does what a command says, and keeps what is for others.
func (s *stage) do(cmd tea.Cmd) {
	s.t.Helper()
	if cmd == nil {
		return
	}
	msg := cmd()
	if v := reflect.ValueOf(msg); msg != nil && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		for i := range v.Len() {
			s.do(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	switch msg.(type) {
	case nil:
	case Submit, Shell, Withdraw, ui.Failed, ui.Notice, ui.Open:
		s.sent = append(s.sent, msg)
	default:
		if strings.HasPrefix(reflect.TypeOf(msg).PkgPath(), "charm.land/bubbletea") && reflect.TypeOf(msg) != reflect.TypeFor[tea.PasteMsg]() ||
			reflect.TypeOf(msg).String() == "completion.Run" {
			s.sent = append(s.sent, msg)
			return
		}
		s.do(s.Update(msg))
	}
}

// write presses keys: letters, and names of keys in brackets.
func (s *stage) write(script string) *stage {
	s.t.Helper()
	for script != "" {
		var k tea.KeyPressMsg
		if rest, ok := strings.CutPrefix(script, "‹"); ok {
			name, after, _ := strings.Cut(rest, "›")
			k, script = named(s.t, name), after
		} else {
			c, _ := ansi.FirstGraphemeCluster(script, ansi.GraphemeWidth)
			k, script = tea.KeyPressMsg{Text: c, Code: []rune(c)[0]}, script[len(c):]
		}
		s.do(s.Update(k))
	}
	return s
}

func (s *stage) paste(text string) *stage {
	s.t.Helper()
	s.do(s.Update(tea.PasteMsg{Content: text}))
	return s
}

var codes = map[string]rune{
	"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
}

func named(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	var k tea.KeyPressMsg
	rest := name
	for mod, bit := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if strings.Contains(rest, mod) {
			rest, k.Mod = strings.ReplaceAll(rest, mod, ""), k.Mod|bit
		}
	}
	if k.Code = codes[rest]; k.Code == 0 {
		k.Code = []rune(rest)[0]
	}
	if k.String() != name {
		t.Fatalf("the key %s is %s", name, k.String())
	}
	return k
}

func (s *stage) golden(name string) {
	s.t.Helper()
	path := filepath.Join("testdata", name+".golden")
	lines := strings.Split(ansi.Strip(s.View()), "\n")
	if c := s.Cursor(); c != nil && c.Y < len(lines) {
		line := lines[c.Y] + strings.Repeat(" ", 100)
		lines[c.Y] = ansi.Cut(line, 0, c.X) + "▏" + ansi.Cut(line, c.X, 100)
	}
	for i, l := range lines {
		if lines[i] = strings.TrimRight(l, " "); ansi.StringWidth(lines[i]) > s.width+1 {
			s.t.Errorf("line %d is too wide: %q", i, l)
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	uitest.Same(s.t, path, got)
}

// TestKeys: what keys make of a text. The bar is where the cursor is.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, keys, want string }{
		{"letters", "hello", "hello▏"},
		{"left and right", "ab‹left›‹left›‹right›x", "ax▏b"},
		{"not beyond the ends", "‹left›a‹right›‹right›b", "ab▏"},
		{"backspace and delete", "abc‹left›‹backspace›‹delete›", "a▏"},
		{"wide characters are one", "日本👩‍👩‍👧‹left›‹backspace›", "日▏👩‍👩‍👧"},
		{"an accent belongs to its letter", "e\u0301‹backspace›", "▏"},
		{"words", "one two-three‹ctrl+left›‹alt+b›x", "one x▏two-three"},
		{"words to the right", "one two‹home›‹alt+f›‹ctrl+right›!", "one two!▏"},
		{"home and end", "one‹ctrl+j›two‹home›a‹end›b", "one\natwob▏"},
		{"all ends", "one‹ctrl+j›two‹alt+<›a‹alt+>›b", "aone\ntwob▏"},
		{"new lines", "a‹shift+enter›b‹alt+enter›c‹ctrl+j›d", "a\nb\nc\nd▏"},
		{"rows", "long line‹ctrl+j›x‹ctrl+j›other‹up›‹up›!", "long !▏line\nx\nother"},
		{"the column stays", "long line‹ctrl+j›x‹ctrl+j›other‹up›‹up›‹down›‹down›!", "long line\nx\nother!▏"},
		{"kill the line's rest", "one two‹home›‹ctrl+right›‹ctrl+k›", "one▏"},
		{"kill the line end", "one‹ctrl+j›two‹up›‹end›‹ctrl+k›", "one▏two"},
		{"kill to the beginning", "one‹ctrl+j›two‹ctrl+u›", "one\n▏"},
		{"kill a word and yank it", "one two-x‹ctrl+w›‹home›‹alt+y›", "two-x▏one "},
		{"kill a part of a word", "one two-x‹alt+backspace›", "one two-▏"},
		{"kill to the right", "one two‹home›‹alt+d›", "▏ two"},
		{"selected and replaced", "one two‹ctrl+shift+left›x", "one x▏"},
		{"selected and deleted", "one two‹shift+home›‹backspace›", "▏"},
		{"selected by letters", "abc‹shift+left›‹shift+left›x", "ax▏"},
		{"a selection ends by moving", "abc‹shift+left›‹left›x", "ax▏bc"},
		{"all selected", "abc‹alt+a›x", "x▏"},
		{"undone by words", "one two‹ctrl+z›", "one ▏"},
		{"and done again", "one two‹ctrl+z›‹ctrl+z›‹ctrl+y›", "one ▏"},
		{"what is new cannot be done again", "one two‹ctrl+z›x‹ctrl+y›", "one x▏"},
		{"a kill is undone", "one‹ctrl+u›‹ctrl+z›", "one▏"},
		{"cleared", "one‹ctrl+c›", "▏"},
		{"cleared and undone", "one‹ctrl+c›‹ctrl+z›", "one▏"},
		{"cut", "one two‹ctrl+shift+left›‹ctrl+x›‹home›‹alt+y›", "two▏one "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, nil).write(c.keys)
			b := s.draft.text
			if got := b.Slice(0, b.At()) + "▏" + b.Slice(b.At(), b.Len()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
