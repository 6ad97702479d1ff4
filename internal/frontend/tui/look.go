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

// looks knows which theme is worn, and why.
type looks struct {
	chosen  string // by the person; "" means by the background
	tried   string // while one is looked for; "" outside
	own     []theme.Theme
	keep    func(name string) error
	mouse   bool
	noColor bool // the person wants none, or the terminal has none
	sixteen bool // the terminal has no more
	ascii   bool // the terminal shows no other signs
	ground  theme.Ground
}

// env is the environment.
func (c Config) env() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

func newLooks(c Config) looks {
	env := func(name string) string { return valueOf(c.env(), name) }
	return looks{
		chosen: c.Theme, own: c.Themes, keep: c.KeepTheme, mouse: !c.NoMouse,
		noColor: env("NO_COLOR") != "", ascii: asciiOnly(env), ground: groundOf(env("COLORFGBG")),
	}
}

// valueOf is a variable of an environment; the last one counts.
func valueOf(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// asciiOnly reports whether the locale has no other signs. Where none is named the
// terminal is taken for one of today.
func asciiOnly(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if locale := strings.ToLower(env(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// groundOf reads what some terminals say of their colors at the start: the numbers
// of those of the text and of the background.
func groundOf(colors string) theme.Ground {
	switch colors[strings.LastIndexByte(colors, ';')+1:] {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return theme.Dark
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return theme.Light
	}
	return theme.Unknown
}

// theme is the one to wear now.
func (l looks) theme() theme.Theme {
	name := l.chosen
	if l.tried != "" {
		name = l.tried
	}
	if l.noColor {
		name = theme.NamePlain
	}
	t, ok := theme.Find(name, l.own)
	if !ok {
		t = theme.For(l.ground)
	}
	if l.sixteen && !t.Plain {
		t = t.Sixteen()
	}
	return t
}

// ask asks the terminal for its background. One that does not answer is not waited
// for: until it does, the terminal's own colors are worn, which can be read on any.
func (l looks) ask() tea.Cmd {
	if l.noColor {
		return nil
	}
	return tea.RequestBackgroundColor
}

// told takes what the terminal says of its colors.
func (a *app) told(msg tea.Msg) {
	switch m := msg.(type) {
	case tea.BackgroundColorMsg:
		if a.looks.ground = theme.Light; m.IsDark() {
			a.looks.ground = theme.Dark
		}
	case tea.ColorProfileMsg:
		a.looks.sixteen = m.String() == "ANSI"
		a.looks.noColor = a.looks.noColor || m.String() == "Ascii"
	}
	a.wear()
}

// wear puts on the theme that holds now.
func (a *app) wear() {
	t := a.looks.theme()
	if t == a.shared.Styles.Theme {
		return
	}
	a.shared.Styles = theme.New(t)
	a.view.SetStyles(a.shared.Styles)
}

// chooseTheme wears a theme from now on; without a name it lists them.
func (a *app) chooseTheme(name string) tea.Cmd {
	a.looks.tried = ""
	if a.looks.noColor {
		return ui.Show(ui.Notice{Text: "there are no colors here: NO_COLOR is set, or the terminal has none"})
	}
	if name == "" {
		return ui.Show(ui.Open{Dialog: a.themes()})
	}
	if name != theme.Auto {
		if _, err := theme.Lookup(name, a.looks.own); err != nil {
			return ui.Show(ui.Failed{Err: err})
		}
	}
	a.looks.chosen = name
	a.wear()
	keep := a.looks.keep
	if keep == nil {
		return nil
	}
	return ui.Do(func() error { return keep(name) })
}

// themeWords say what the themes are.
var themeWords = map[string]string{
	theme.Auto: "dark or light, by the terminal's background", theme.NameDark: "for a dark background", theme.NameLight: "for a light one",
	theme.NameContrast: "the strongest contrast", theme.NamePlain: "no colors", theme.NameTerminal: "the terminal's own colors",
}

// themes is the list of themes. What the bar is on is worn meanwhile.
func (a *app) themes() *picker.Picker {
	var items []picker.Item
	for _, name := range append([]string{theme.Auto}, theme.Names(a.looks.own)...) {
		words, ok := themeWords[name]
		if !ok {
			words = "your own"
		}
		items = append(items, picker.Item{ID: name, Title: name, Detail: words})
	}
	chosen := a.looks.chosen
	if chosen == "" {
		chosen = theme.Auto
	}
	return picker.New(a.shared, "Themes", items, picker.Options{ID: pickTheme, Chosen: chosen, Follow: true})
}

// tried wears what the bar is on, or what was worn before if nothing was chosen. It
// reports whether it was about themes.
func (a *app) tried(msg tea.Msg) bool {
	switch m := msg.(type) {
	case picker.Moved:
		if m.Picker != pickTheme {
			return false
		}
		a.looks.tried = m.ID
	case picker.Closed:
		if m.Picker != pickTheme {
			return false
		}
		a.looks.tried = ""
	}
	a.wear()
	return true
}

// signs is a text in signs that the terminal has.
func (l looks) signs(text string) string {
	if l.ascii {
		return theme.ASCII(text)
	}
	return text
}
