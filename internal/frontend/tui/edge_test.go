package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// style finds the sequences that pawl itself draws with.
var style = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// odd says what is wrong with a screen: it has other lines than the terminal, one
// that is too wide, or something that steers the terminal or turns the text.
func odd(content string, width, height int) string {
	lines := strings.Split(content, "\n")
	if len(lines) != height {
		return fmt.Sprintf("it has %d lines", len(lines))
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > width {
			return fmt.Sprintf("line %d has %d cells: %q", i, w, l)
		}
		for _, r := range style.ReplaceAllString(l, "") {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r >= 0xe0000 && r < 0xf0000 {
				return fmt.Sprintf("line %d has %U: %q", i, r, l)
			}
		}
	}
	return ""
}

// strange are what third parties and persons write.
var strange = []string{
	"plain", "größe", "日本語のテキスト", "👩‍💻👨‍👩‍👧‍👦", "e\u0301\u0302\u0303", "\u202egpj.exe\u2066x\u2069", "עברית", "नमस्ते क्ष", "\x1b[2J\x1b]0;t\x07", "\t", "\r", "\n", "a\u200bb",
	strings.Repeat("long", 60), strings.Repeat("日", 90), "```go\nx := \"日\"\n```\n", "| a | b |\n|---|---|\n| 日 | 👩‍💻 |\n", "- [ ] x\n  > q\n", "@file ", "/th", "!ls", "\U000e0041", "\xff\x9b",
}

// storm is what may come to an app at any time.
func storm(t *rapid.T, a *app, seq *pawl.Seq) tea.Msg {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(strange), 1, 4).Draw(t, "text"), " ")
	event := func(b pawl.Body) tea.Msg {
		e := pawl.Event{Session: "s", Turn: 1, Body: b}
		if pawl.KindOf(b).Durable() {
			*seq++
			e.Seq = *seq
		}
		return eventfeed.News{Feed: a.feed, Events: []pawl.Event{e}}
	}
	call := pawl.CallID(fmt.Sprint(*seq))
	return rapid.SampledFrom([]func() tea.Msg{
		func() tea.Msg { return event(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}}}) },
		func() tea.Msg { return event(pawl.ReplyStarted{Step: 1, Model: text}) },
		func() tea.Msg { return event(pawl.Delta{Reply: *seq, Channel: pawl.ChannelText, Text: text}) },
		func() tea.Msg {
			return event(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: text}, pawl.ToolCall{ID: call, Name: "bash", Input: []byte(`{"command":"ls"}`)}}})
		},
		func() tea.Msg { return event(pawl.CallStarted{Call: call, Tool: text}) },
		func() tea.Msg {
			return event(pawl.CallFinished{Call: call, Status: pawl.CallDone, Result: pawl.Result{Content: text, IsError: true}})
		},
		func() tea.Msg { return event(pawl.SessionTitled{Title: text}) },
		func() tea.Msg { return event(pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop, Text: text}}) },
		func() tea.Msg {
			return event(pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskPermission, Text: "bash\ncommand\n  | " + text}})
		},
		func() tea.Msg {
			return event(pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Header: text, Question: text, Options: []pawl.Option{{Label: text, Description: text}}}}}})
		},
		func() tea.Msg { return event(pawl.Answered{Ask: *seq}) },
		func() tea.Msg { return ui.Failed{Err: errors.New(text)} },
		func() tea.Msg { return ui.Notice{Text: text} },
		func() tea.Msg { return ui.Open{Dialog: dialog.NewFailure(a.shared, errors.New(text))} },
		func() tea.Msg { return ui.Open{Dialog: a.themePicker()} },
		func() tea.Msg { return a.help("editor")() },
		func() tea.Msg { return a.editor.Palette()() },
		func() tea.Msg { return tea.PasteMsg{Content: text} },
		func() tea.Msg {
			return rapid.SampledFrom([]tea.Msg{black, white, colors("ANSI"), colors("TrueColor"), tea.BlurMsg{}}).Draw(t, "told")
		},
		func() tea.Msg { return press(rapid.SampledFrom(pressed).Draw(t, "key")) },
		func() tea.Msg {
			return tea.MouseClickMsg{X: rapid.IntRange(0, 90).Draw(t, "x"), Y: rapid.IntRange(0, 40).Draw(t, "y"), Button: tea.MouseLeft}
		},
		func() tea.Msg {
			return tea.MouseMotionMsg{X: rapid.IntRange(0, 90).Draw(t, "x"), Y: rapid.IntRange(0, 40).Draw(t, "y"), Button: tea.MouseLeft}
		},
		func() tea.Msg { return tea.MouseReleaseMsg{} },
	}).Draw(t, "what")()
}

// pressed are keys that do something somewhere.
var pressed = []string{"enter", "esc", "up", "down", "pgup", "pgdown", "tab", "f1", "backspace", "x", "日", "/", "@", "?", "ctrl+o", "ctrl+f", "ctrl+p", "ctrl+j", "ctrl+z", "ctrl+w", "y", "n", "w", "a", "alt+up", "ctrl+home"}

// press is a key by its name.
func press(name string) tea.KeyPressMsg {
	k := tea.KeyPressMsg{}
	base := name
	if rest, ok := strings.CutPrefix(base, "ctrl+"); ok {
		base, k.Mod = rest, tea.ModCtrl
	}
	if rest, ok := strings.CutPrefix(base, "alt+"); ok {
		base, k.Mod = rest, tea.ModAlt
	}
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "tab": tea.KeyTab, "f1": tea.KeyF1, "backspace": tea.KeyBackspace, "home": tea.KeyHome,
	}
	if k.Code = named[base]; k.Code != 0 {
		return k
	}
	if k.Code, _ = utf8.DecodeRuneInString(base); k.Mod == 0 {
		k.Text = base
	}
	return k
}

// TestStorm: whatever comes, in whatever size and order, the screen has as many
// lines as the terminal, none is too wide, and nothing steers the terminal. Where
// the locale has no other signs, all of it is ASCII.
func TestStorm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ascii := rapid.Bool().Draw(rt, "ascii")
		env := []string{"LANG=de_DE.UTF-8"}
		if ascii {
			env = []string{"LANG=C"}
		}
		a := dressed(t, Config{Env: env})
		a.session, a.feed = pawl.Session{ID: "s"}, &eventfeed.Feed{}
		a.queue.Open("s", nil)
		var seq pawl.Seq
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "resized") {
				a.Update(tea.WindowSizeMsg{Width: rapid.IntRange(1, 90).Draw(rt, "width"), Height: rapid.IntRange(1, 40).Draw(rt, "height")})
			}
			a.Update(storm(rt, a, &seq))
			v := a.View()
			if fault := odd(v.Content, a.width, a.height); fault != "" {
				rt.Fatalf("at %d x %d: %s", a.width, a.height, fault)
			}
			for _, r := range v.WindowTitle + style.ReplaceAllString(v.Content, "") {
				if r != '\n' && (unicode.IsControl(r) || ascii && r >= utf8.RuneSelf) {
					rt.Fatalf("there is %U: %q", r, v.WindowTitle)
				}
			}
			if c := v.Cursor; c != nil && (c.X < 0 || c.X >= a.width || c.Y < 0 || c.Y >= a.height) {
				rt.Fatalf("at %d x %d the cursor is at %d, %d", a.width, a.height, c.X, c.Y)
			}
		}
	})
}

// narrow is an app of 20 to 8 cells with a conversation.
func narrow(t *testing.T) *app {
	t.Helper()
	a := drawn(t)
	give(a, nil, pawl.Event{Seq: 1, Body: pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Fix 日本語 and größe"}}}},
		pawl.Event{Seq: 2, Body: pawl.ReplyStarted{Step: 1}}, pawl.Event{Seq: 3, Body: pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "It is **done** now."}}}})
	a.Update(tea.WindowSizeMsg{Width: minWidth, Height: minHeight})
	return a
}

// TestNarrow: 20 columns and 8 rows are enough for the conversation, the prompt and
// lists; with fewer, a sentence says so.
func TestNarrow(t *testing.T) {
	t.Parallel()
	a := narrow(t)
	for _, want := range []string{"It is done now.", "Ask Pawl to do"} {
		a.says(t, want)
	}
	a.do(ui.Open{Dialog: a.themePicker()})
	a.says(t, "Themes")
	a.says(t, "› auto")
	a.do(press("esc"))
	a.do(tea.PasteMsg{Content: strings.Repeat("row\n", 8) + "last"})
	a.says(t, "last")
	a.says(t, "───")
	for _, size := range [][2]int{{minWidth - 1, minHeight}, {minWidth, minHeight - 1}, {5, 3}, {1, 1}} {
		a.do(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		v := a.View()
		if fault := odd(v.Content, size[0], size[1]); fault != "" || !strings.HasPrefix(v.Content, "P") || v.Cursor != nil {
			t.Errorf("%v: %s %q", size, fault, v.Content)
		}
	}
	a.do(tea.WindowSizeMsg{Width: 40, Height: 4})
	a.says(t, "Pawl needs 20 columns and 8 rows")
	a.do(tea.WindowSizeMsg{Width: 80, Height: 24})
	a.says(t, "last")
}

// TestCramped: what does not fit on the screen cannot be answered, and counts as
// not seen when it does.
func TestCramped(t *testing.T) {
	t.Parallel()
	a := narrow(t)
	give(a, nil, pawl.Event{Seq: 4, Body: pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskPermission, Text: "bash\ncommand\n  | rm -rf x", Offer: []json.RawMessage{json.RawMessage(`{"tool":"bash"}`)}}}})
	a.says(t, "The window is too")
	for _, key := range []string{"y", "a", "n", "enter", "esc"} {
		if _, cmd := a.Update(press(key)); cmd != nil || len(a.dialogs) != 1 {
			t.Errorf("%s does something", key)
		}
	}
	_, cmd := a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if cmd == nil {
		t.Error("it does not begin to settle when it is seen")
	}
	a.says(t, "rm -rf x")
	if _, cmd := a.Update(press("y")); cmd != nil {
		t.Error("a key that came right after it was an answer")
	}
	a.Update(tea.WindowSizeMsg{Width: minWidth, Height: minHeight})
	a.View()
	if _, cmd := a.Update(press("ctrl+d")); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("pawl cannot be ended")
	}
	a = narrow(t)
	a.do(ui.Open{Dialog: a.themePicker()})
	a.do(tea.WindowSizeMsg{Width: minWidth - 1, Height: minHeight})
	a.View()
	for _, key := range []string{"down", "enter"} {
		a.do(press(key))
	}
	a.do(tea.PasteMsg{Content: "light"})
	a.do(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if a.theme.preview != "" || a.theme.chosen != "" || len(a.dialogs) != 1 {
		t.Errorf("something was chosen that was not seen: %+v", a.theme)
	}
	a = narrow(t)
	a.Update(ui.Open{Dialog: dialog.NewFailure(a.shared, errors.New("that went wrong"))})
	a.says(t, "The window is too")
	if a.do(press("esc")); len(a.dialogs) != 0 {
		t.Error("what asks nothing cannot be closed")
	}
}

// TestLocale checks that borders and symbols are ASCII if the locale requires it, and that copied text is unchanged.
func TestLocale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"", false}, {"LANG=C", true}, {"LANG=POSIX", true}, {"LANG=C.UTF-8", false}, {"LANG=de_DE.utf8", false}, {"LANG=de_DE.ISO-8859-1", true},
		{"LC_ALL=C LANG=de_DE.UTF-8", true}, {"LC_CTYPE=de_DE.UTF-8 LANG=C", false}, {"LC_ALL= LANG=C", true},
	} {
		if got := newThemeState(Config{Env: append([]string{}, strings.Fields(c.env)...)}).ascii; got != c.want {
			t.Errorf("%s: %v", c.env, got)
		}
	}
	a := narrow(t)
	a.theme.ascii = true
	for _, want := range []string{"gr??e", "--------------------", "> Ask Pawl to do"} {
		a.says(t, want)
	}
	a.focusChat(true)
	a.view.Select(-1)
	if got := a.view.Copy(); got != "Fix 日本語 and größe" {
		t.Errorf("copied %q", got)
	}
}
