package tui

import (
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// themeState determines the current theme.
type themeState struct {
	chosen     string // the user's choice; "" means by background
	preview    string // the theme under the picker's selection; "" if there is no picker
	custom     []theme.Theme
	save       func(name string) error
	mouse      bool
	noColor    bool // NO_COLOR is set, or the terminal has no colors
	sixteen    bool // the terminal has 16 colors only
	ascii      bool // the locale has no other characters
	background theme.Background
}

// env returns the environment.
func (c Config) env() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

func newThemeState(c Config) themeState {
	env := func(name string) string { return lookupEnv(c.env(), name) }
	return themeState{
		chosen: c.Theme, custom: c.Themes, save: c.SaveTheme, mouse: !c.NoMouse,
		noColor: env("NO_COLOR") != "", ascii: asciiOnly(env), background: parseColorFGBG(env("COLORFGBG")),
	}
}

// lookupEnv returns a variable of an environment; the last value wins.
func lookupEnv(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// asciiOnly reports whether the locale's encoding is not UTF-8. Without a locale,
// UTF-8 is assumed.
func asciiOnly(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set wins
		if locale := strings.ToLower(env(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// parseColorFGBG returns the background from the COLORFGBG variable of some terminals:
// color numbers of foreground and background.
func parseColorFGBG(colors string) theme.Background {
	switch colors[strings.LastIndexByte(colors, ';')+1:] {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return theme.Dark
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return theme.Light
	}
	return theme.Unknown
}

// current returns the theme to use.
func (l themeState) current() theme.Theme {
	name := l.chosen
	if l.preview != "" {
		name = l.preview
	}
	if l.noColor {
		name = theme.NamePlain
	}
	t, ok := theme.Find(name, l.custom)
	if !ok {
		t = theme.For(l.background)
	}
	if l.sixteen && !t.Monochrome {
		t = t.Sixteen()
	}
	return t
}

// requestBackground asks the terminal for its background color. Until it answers, if
// it does, the terminal's own colors are used, which are readable on any background.
func (l themeState) requestBackground() tea.Cmd {
	if l.noColor {
		return nil
	}
	return tea.RequestBackgroundColor
}

// terminalColors handles what the terminal reports about its colors.
func (a *app) terminalColors(msg tea.Msg) {
	a.theme.learn(msg)
	a.applyTheme()
}

// learn records what the terminal reports about its colors.
func (l *themeState) learn(msg tea.Msg) {
	switch m := msg.(type) {
	case tea.BackgroundColorMsg:
		if l.background = theme.Light; m.IsDark() {
			l.background = theme.Dark
		}
	case tea.ColorProfileMsg:
		l.sixteen = m.String() == "ANSI"
		l.noColor = l.noColor || m.String() == "Ascii"
	}
}

// applyTheme switches to the current theme.
func (a *app) applyTheme() {
	t := a.theme.current()
	if t == a.shared.Styles.Theme {
		return
	}
	a.shared.Styles = theme.New(t)
	a.view.SetStyles(a.shared.Styles)
}

// chooseTheme switches to a theme and saves the choice; without a name it opens the
// picker.
func (a *app) chooseTheme(name string) tea.Cmd {
	a.theme.preview = ""
	if a.theme.noColor {
		return ui.Send(ui.Notice{Text: "Colors are off: NO_COLOR is set, or the terminal has none"})
	}
	if name == "" {
		return ui.Send(ui.Open{Dialog: a.themePicker()})
	}
	if name != theme.Auto {
		if _, err := theme.Lookup(name, a.theme.custom); err != nil {
			return ui.Send(ui.Failed{Err: err})
		}
	}
	a.theme.chosen = name
	a.applyTheme()
	keep := a.theme.save
	if keep == nil {
		return nil
	}
	return ui.Run(func() error { return keep(name) })
}

// themeHelp describes the themes.
var themeHelp = map[string]string{
	theme.Auto: "Dark or light, to match the terminal", theme.NameDark: "For dark backgrounds", theme.NameLight: "For light backgrounds",
	theme.NameContrast: "High contrast", theme.NamePlain: "No colors", theme.NameTerminal: "The terminal's own colors",
}

// themePicker returns the list of themes. The selected one is previewed.
func (a *app) themePicker() *picker.Picker {
	var items []picker.Item
	for _, name := range append([]string{theme.Auto}, theme.Names(a.theme.custom)...) {
		words, ok := themeHelp[name]
		if !ok {
			words = "Custom"
		}
		items = append(items, picker.Item{ID: name, Title: name, Detail: words})
	}
	chosen := a.theme.chosen
	if chosen == "" {
		chosen = theme.Auto
	}
	return picker.New(a.shared, "Themes", items, picker.Options{ID: pickTheme, Chosen: chosen, Follow: true})
}

// previewTheme previews the selected theme, or restores the previous one if the picker
// was closed. It reports whether msg is about themes.
func (a *app) previewTheme(msg tea.Msg) bool {
	switch m := msg.(type) {
	case picker.Moved:
		if m.Picker != pickTheme {
			return false
		}
		a.theme.preview = m.ID
	case picker.Closed:
		if m.Picker != pickTheme {
			return false
		}
		a.theme.preview = ""
	}
	a.applyTheme()
	return true
}

// symbols replaces characters that the terminal cannot show.
func (l themeState) symbols(text string) string {
	if l.ascii {
		return theme.ASCII(text)
	}
	return text
}
