package tui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// dressed is an app as Run makes it, of 80 to 24 cells.
func dressed(t *testing.T, c Config) *app {
	t.Helper()
	k, err := keys.New(c.Keys)
	if err != nil {
		t.Fatal(err)
	}
	if c.Env == nil {
		c.Env = []string{}
	}
	a := newApp(&ui.Shared{Context: t.Context(), Dir: "/work/x", Styles: theme.New(newThemeState(c).current()), Keys: k}, c)
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return a
}

// do gives the app a message, and the result, as long as that comes at once.
func (a *app) do(msg tea.Msg) {
	for msg != nil {
		_, cmd := a.Update(msg)
		msg = nil
		if cmd != nil {
			msg = cmd()
		}
	}
}

func (a *app) wears() string { return a.shared.Styles.Theme.Name }

// colors is a terminal that has so many.
func colors(name string) (m tea.ColorProfileMsg) {
	for m.String() != name {
		m.Profile++
	}
	return m
}

var black, white = tea.BackgroundColorMsg{Color: color.Black}, tea.BackgroundColorMsg{Color: color.White}

// TestWorn: the theme is the person's, or by the terminal's background. Until that
// is known it is one that can be read on any.
func TestWorn(t *testing.T) {
	t.Parallel()
	own := []theme.Theme{{Name: "mine", Background: theme.Dark, Colors: theme.Colors{Text: "#ffffff", Screen: "#000000"}}}
	for _, c := range []struct {
		name   string
		chosen string
		env    []string
		msgs   []tea.Msg
		want   string
		screen bool // it brings a background
	}{
		{"nothing is known", "", nil, nil, "terminal", false},
		{"a dark one", "", nil, []tea.Msg{black}, "dark", false},
		{"a light one", "", nil, []tea.Msg{white}, "light", false},
		{"auto is the same", "auto", nil, []tea.Msg{white}, "light", false},
		{"known at the start", "", []string{"COLORFGBG=0;15"}, nil, "light", false},
		{"known at the start, dark", "", []string{"COLORFGBG=15;default;0"}, nil, "dark", false},
		{"the terminal knows better", "", []string{"COLORFGBG=0;15"}, []tea.Msg{black}, "dark", false},
		{"chosen", "contrast", nil, []tea.Msg{black}, "contrast", false},
		{"chosen, for another background", "dark", nil, []tea.Msg{white}, "dark", true},
		{"light on black", "light", nil, []tea.Msg{black}, "light", true},
		{"one's own", "mine", nil, []tea.Msg{white}, "mine", true},
		{"no color", "dark", []string{"NO_COLOR=1"}, []tea.Msg{white}, "plain", false},
		{"an empty NO_COLOR says nothing", "dark", []string{"NO_COLOR="}, nil, "dark", false},
		{"a terminal without colors", "dark", nil, []tea.Msg{colors("Ascii")}, "plain", false},
		{"one with 256", "dark", nil, []tea.Msg{colors("ANSI256")}, "dark", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := dressed(t, Config{Theme: c.chosen, Themes: own, Env: append([]string{}, c.env...)})
			for _, m := range c.msgs {
				a.do(m)
			}
			if a.wears() != c.want {
				t.Errorf("it wears %s, want %s", a.wears(), c.want)
			}
			v := a.View()
			if (v.BackgroundColor != nil) != c.screen || (v.ForegroundColor != nil) != c.screen {
				t.Errorf("on %v, in %v", v.BackgroundColor, v.ForegroundColor)
			}
		})
	}
	for env, want := range map[string]bool{"NO_COLOR=1": false, "TERM=x": true} {
		if asked := dressed(t, Config{Env: []string{env}}).theme.requestBackground() != nil; asked != want {
			t.Errorf("%s: the terminal is asked for its background: %v", env, asked)
		}
	}
	a := dressed(t, Config{Theme: "dark"})
	a.do(colors("ANSI"))
	if got := a.shared.Styles.Selected; !got.GetReverse() || got.GetBackground() != (lipgloss.NoColor{}) {
		t.Error("with 16 colors something is put behind what is chosen")
	}
}

// TestThemes: the theme under the bar is worn; Esc brings the old one back, and a
// choice is kept.
func TestThemes(t *testing.T) {
	t.Parallel()
	var kept []string
	keep := func(name string) error { kept = append(kept, name); return nil }
	a := dressed(t, Config{Theme: "dark", SaveTheme: keep, Themes: []theme.Theme{{Name: "mine"}}})
	choose := func(names ...string) {
		for _, r := range "/theme " {
			a.do(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		a.do(tea.KeyPressMsg{Code: tea.KeyEnter})
		a.says(t, "Themes")
		for _, n := range names {
			a.do(map[string]tea.KeyPressMsg{"down": {Code: tea.KeyDown}, "esc": {Code: tea.KeyEscape}, "enter": {Code: tea.KeyEnter}}[n])
		}
	}
	if choose("down"); a.wears() != "light" {
		t.Errorf("under the bar is light, and it wears %s", a.wears())
	}
	if a.do(tea.KeyPressMsg{Code: tea.KeyEscape}); a.wears() != "dark" || len(kept) != 0 || len(a.dialogs) != 0 {
		t.Errorf("after Esc it wears %s and keeps %v", a.wears(), kept)
	}
	if choose("down", "down", "enter"); a.wears() != "contrast" || strings.Join(kept, " ") != "contrast" {
		t.Errorf("after a choice it wears %s and keeps %v", a.wears(), kept)
	}
	if a.do(a.chooseTheme("mine")()); a.wears() != "mine" || kept[1] != "mine" {
		t.Errorf("by its name: %s", a.wears())
	}
	a.do(a.chooseTheme("drak")())
	a.says(t, `unknown theme "drak": did you mean "dark"?`)
	if a.do(a.chooseTheme("auto")()); a.wears() != "terminal" || kept[2] != "auto" {
		t.Errorf("auto: %s, %v", a.wears(), kept)
	}
	a = dressed(t, Config{Env: []string{"NO_COLOR=1"}})
	a.do(a.chooseTheme("")())
	a.says(t, "NO_COLOR is set")
}

// TestMouseIsLeft: without the mouse, the terminal selects by itself.
func TestMouseIsLeft(t *testing.T) {
	t.Parallel()
	if m := dressed(t, Config{}).View().MouseMode; m != tea.MouseModeCellMotion {
		t.Errorf("by default: %v", m)
	}
	if m := dressed(t, Config{NoMouse: true}).View().MouseMode; m != tea.MouseModeNone {
		t.Errorf("without: %v", m)
	}
}
