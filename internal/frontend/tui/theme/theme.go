// Package theme defines colors and styles by meaning, and the built-in themes.
package theme

import (
	"image/color"
	"slices"

	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// Colors are the colors of a theme. "" is the terminal's own.
type Colors struct {
	Text     string `json:"text,omitempty"`
	Muted    string `json:"muted,omitempty"`  // less important: paths, hints, finished work
	Accent   string `json:"accent,omitempty"` // selection and actions
	User     string `json:"user,omitempty"`   // the user's messages
	Good     string `json:"good,omitempty"`
	Warn     string `json:"warn,omitempty"`
	Bad      string `json:"bad,omitempty"`
	Border   string `json:"border,omitempty"`
	Selected string `json:"selected,omitempty"` // background of the selected line
	Panel    string `json:"panel,omitempty"`    // background of dialogs and cards
	Added    string `json:"added,omitempty"`    // background of added lines
	Removed  string `json:"removed,omitempty"`  // background of removed lines
	Screen   string `json:"screen,omitempty"`   // background of the screen, if the terminal's does not suit the theme
}

// Theme is a named set of colors.
type Theme struct {
	Name       string
	Colors     Colors
	Monochrome bool       // no colors, only bold, underline and reverse
	Background Background // the background that it is made for
}

// Background is the brightness of the terminal's background.
type Background int

// The backgrounds.
const (
	Unknown Background = iota // the terminal has not reported it
	Dark
	Light
)

// Names of the built-in themes.
const (
	NameDark     = "dark"
	NameLight    = "light"
	NameContrast = "contrast"
	NamePlain    = "plain"
	NameTerminal = "terminal"
)

// Auto chooses a theme by the terminal's background.
const Auto = "auto"

// Builtin are the built-in themes.
var Builtin = []Theme{
	{Name: NameDark, Background: Dark, Colors: Colors{
		Text: "#d8dee9", Muted: "#98a2b5", Accent: "#8fbcbb", User: "#c9a2c4", Good: "#a3be8c", Warn: "#ebcb8b", Bad: "#f08c94",
		Border: "#4c566a", Selected: "#2a2f3a", Panel: "#242933", Added: "#1c2e22", Removed: "#3a2226", Screen: "#1d2129",
	}},
	{Name: NameLight, Background: Light, Colors: Colors{
		Text: "#2b303b", Muted: "#5a6170", Accent: "#0a6375", User: "#862e9c", Good: "#226b31", Warn: "#703400", Bad: "#b32424",
		Border: "#b4bac4", Selected: "#e7ecf3", Panel: "#f4f6f9", Added: "#dcf5e1", Removed: "#fbe1e1", Screen: "#ffffff",
	}},
	{Name: NameContrast, Background: Dark, Colors: Colors{
		Text: "#ffffff", Muted: "#e0e0e0", Accent: "#00ffff", User: "#ffff00", Good: "#00ff00", Warn: "#ffd700", Bad: "#ffb8b8",
		Border: "#ffffff", Selected: "#0000af", Panel: "#000000", Added: "#002b00", Removed: "#5f0000", Screen: "#000000",
	}},
	{Name: NamePlain, Monochrome: true},
	{Name: NameTerminal, Colors: Colors{Accent: "6", User: "5", Good: "2", Warn: "3", Bad: "1"}},
}

// Find returns a theme by name; more are the user's own.
func Find(name string, more []Theme) (Theme, bool) {
	for _, list := range [][]Theme{Builtin, more} {
		for _, t := range list {
			if t.Name == name {
				return t, true
			}
		}
	}
	return Theme{}, false
}

// Lookup is Find with an error that suggests a similar name.
func Lookup(name string, more []Theme) (Theme, error) {
	t, ok := Find(name, more)
	if !ok {
		names := append(Names(more), Auto)
		if similar := suggest.Quoted("", name, names); similar != "" {
			return t, fault.New(pawl.ErrInvalid, "unknown theme %q: did you mean %s?", name, similar)
		}
		return t, fault.New(pawl.ErrInvalid, "unknown theme %q: use %s", name, humanize.Join(names, "or"))
	}
	return t, nil
}

// Names returns the names of the built-in themes and of more.
func Names(more []Theme) []string {
	var names []string
	for _, t := range slices.Concat(Builtin, more) {
		names = append(names, t.Name)
	}
	return names
}

// For returns the theme for a background: for an unknown one, the terminal's own
// colors, which are readable on it.
func For(g Background) Theme {
	name := map[Background]string{Dark: NameDark, Light: NameLight, Unknown: NameTerminal}[g]
	t, _ := Find(name, nil)
	return t
}

// Sixteen returns the theme for a terminal with 16 colors. These are the user's
// palette, so a theme's choice of contrasts would not hold.
func (t Theme) Sixteen() Theme {
	own, _ := Find(NameTerminal, nil)
	t.Colors, t.Background = own.Colors, Unknown
	return t
}

// Styles are the styles of a theme.
type Styles struct {
	Theme Theme

	Text, Muted, Accent, User, Good, Warn, Bad lipgloss.Style
	Bold, Border, Selected, Panel              lipgloss.Style
	Added, Removed                             lipgloss.Style
}

// New returns the styles of a theme.
func New(t Theme) *Styles {
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(parseColor(c)) }
	s := &Styles{
		Theme: t, Text: fg(t.Colors.Text), Muted: fg(t.Colors.Muted), Accent: fg(t.Colors.Accent), User: fg(t.Colors.User),
		Good: fg(t.Colors.Good), Warn: fg(t.Colors.Warn), Bad: fg(t.Colors.Bad), Bold: fg(t.Colors.Text).Bold(true),
		Border: fg(t.Colors.Border), Selected: fg(t.Colors.Text).Background(parseColor(t.Colors.Selected)),
		Panel: fg(t.Colors.Text).Background(parseColor(t.Colors.Panel)),
		Added: fg(t.Colors.Text).Background(parseColor(t.Colors.Added)), Removed: fg(t.Colors.Text).Background(parseColor(t.Colors.Removed)),
	}
	if none(t.Colors.Selected) {
		s.Selected = lipgloss.NewStyle().Reverse(true)
	}
	if none(t.Colors.Added) && none(t.Colors.Removed) { // the text is colored instead
		s.Added, s.Removed = s.Good, s.Bad
	}
	if t.Monochrome {
		bare := lipgloss.NewStyle()
		*s = Styles{
			Theme: t, Text: bare, Muted: bare, Accent: bare.Bold(true), User: bare.Bold(true), Good: bare, Warn: bare.Bold(true), Bad: bare.Bold(true),
			Bold: bare.Bold(true), Border: bare, Selected: bare.Reverse(true), Panel: bare, Added: bare, Removed: bare,
		}
	}
	return s
}

// terminalColor is the value that selects the terminal's own color.
const terminalColor = "default"

// none reports whether a color is the terminal's own.
func none(name string) bool { return name == "" || name == terminalColor }

func parseColor(name string) color.Color {
	if none(name) {
		return lipgloss.NoColor{}
	}
	return lipgloss.Color(name)
}

// ScreenOn returns the background color to set on a terminal with background g, or nil
// if the terminal's own suits the theme.
func (t Theme) ScreenOn(g Background) color.Color {
	if g == Unknown || t.Background == Unknown || g == t.Background || none(t.Colors.Screen) {
		return nil
	}
	return lipgloss.Color(t.Colors.Screen)
}
