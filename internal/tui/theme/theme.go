// Package theme says how things look: colors by what they mean, never by where
// they are used.
package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Colors are what a theme is made of. One that is "" is the terminal's own.
type Colors struct {
	Text     string `json:"text,omitempty"`
	Muted    string `json:"muted,omitempty"`  // of less weight: paths, hints, what is done
	Accent   string `json:"accent,omitempty"` // what is chosen, what can be done
	User     string `json:"user,omitempty"`   // what the person said
	Good     string `json:"good,omitempty"`
	Warn     string `json:"warn,omitempty"`
	Bad      string `json:"bad,omitempty"`
	Border   string `json:"border,omitempty"`
	Selected string `json:"selected,omitempty"` // behind the chosen line
	Panel    string `json:"panel,omitempty"`    // behind dialogs and cards
	Added    string `json:"added,omitempty"`    // behind added lines
	Removed  string `json:"removed,omitempty"`  // behind removed lines
}

// Theme is a look.
type Theme struct {
	Name   string `json:"name"`
	Colors Colors `json:"colors"`
	Plain  bool   `json:"plain,omitempty"` // no colors at all: weight and underline instead
}

// Builtin are the looks that pawl brings. The first is the default on a dark
// terminal, the second on a light one.
var Builtin = []Theme{
	{Name: "dark", Colors: Colors{
		Text: "#d8dee9", Muted: "#7b8496", Accent: "#8fbcbb", User: "#b48ead", Good: "#a3be8c", Warn: "#ebcb8b", Bad: "#e06c75",
		Border: "#3b4252", Selected: "#2e3440", Panel: "#242933", Added: "#1f3326", Removed: "#3a2226",
	}},
	{Name: "light", Colors: Colors{
		Text: "#2b303b", Muted: "#6b7280", Accent: "#0b7285", User: "#862e9c", Good: "#2b8a3e", Warn: "#a35200", Bad: "#c92a2a",
		Border: "#c9ced6", Selected: "#e7ecf3", Panel: "#f4f6f9", Added: "#dcf5e1", Removed: "#fbe1e1",
	}},
	{Name: "contrast", Colors: Colors{
		Text: "#ffffff", Muted: "#d0d0d0", Accent: "#00ffff", User: "#ffff00", Good: "#00ff00", Warn: "#ffd700", Bad: "#ff6060",
		Border: "#ffffff", Selected: "#0000af", Panel: "#000000", Added: "#005f00", Removed: "#870000",
	}},
	{Name: "plain", Plain: true},
}

// Find returns a theme by its name.
func Find(name string, more []Theme) (Theme, bool) {
	for _, list := range [][]Theme{more, Builtin} {
		for _, t := range list {
			if t.Name == name {
				return t, true
			}
		}
	}
	return Theme{}, false
}

// Styles are a theme, ready to be used.
type Styles struct {
	Theme Theme

	Text, Muted, Accent, User, Good, Warn, Bad lipgloss.Style
	Bold, Border, Selected, Panel              lipgloss.Style
	Added, Removed                             lipgloss.Style
}

// New makes the styles of a theme.
func New(t Theme) *Styles {
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(colorOf(c)) }
	s := &Styles{
		Theme: t, Text: fg(t.Colors.Text), Muted: fg(t.Colors.Muted), Accent: fg(t.Colors.Accent), User: fg(t.Colors.User),
		Good: fg(t.Colors.Good), Warn: fg(t.Colors.Warn), Bad: fg(t.Colors.Bad), Bold: fg(t.Colors.Text).Bold(true),
		Border: fg(t.Colors.Border), Selected: fg(t.Colors.Text).Background(colorOf(t.Colors.Selected)),
		Panel: fg(t.Colors.Text).Background(colorOf(t.Colors.Panel)),
		Added: fg(t.Colors.Text).Background(colorOf(t.Colors.Added)), Removed: fg(t.Colors.Text).Background(colorOf(t.Colors.Removed)),
	}
	if t.Plain {
		none := lipgloss.NewStyle()
		*s = Styles{
			Theme: t, Text: none, Muted: none, Accent: none.Bold(true), User: none.Bold(true), Good: none, Warn: none.Bold(true), Bad: none.Bold(true),
			Bold: none.Bold(true), Border: none, Selected: none.Reverse(true), Panel: none, Added: none, Removed: none,
		}
	}
	return s
}

func colorOf(name string) color.Color {
	if name == "" {
		return lipgloss.NoColor{}
	}
	return lipgloss.Color(name)
}
