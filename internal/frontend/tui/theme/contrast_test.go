package theme

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// luminance is how light a color is, by WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	part := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

// contrast is how well one color is read on another: 1 to 21.
func contrast(a, b color.Color) float64 {
	high, low := luminance(a), luminance(b)
	if high < low {
		high, low = low, high
	}
	return (high + 0.05) / (low + 0.05)
}

func TestContrastByTheStandard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#ffffff", "#ffffff", 1}} {
		if got := contrast(lipgloss.Color(c.a), lipgloss.Color(c.b)); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s on %s: %.2f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

// backgrounds are terminal backgrounds on which a theme must be readable, besides its own.
var backgrounds = map[Background][]string{
	Dark:  {"#000000", "#1e1e1e", "#282c34"},
	Light: {"#ffffff", "#fafafa", "#fdf6e3"},
}

// TestContrast: what is to be read can be read, in all colors and in 256, on all
// that it may stand on.
func TestContrast(t *testing.T) {
	t.Parallel()
	depths := map[string]func(color.Color) color.Color{
		"all colors": func(c color.Color) color.Color { return c },
		"256 colors": func(c color.Color) color.Color { return ansi.Convert256(c) },
	}
	for _, theme := range Builtin {
		c, least := theme.Colors, 4.5
		if theme.Name == NameContrast {
			least = 7
		}
		behind := append([]string{c.Screen, c.Panel, c.Selected, c.Added, c.Removed}, backgrounds[theme.Background]...)
		if theme.Name == NameContrast {
			behind = []string{c.Screen, c.Panel, c.Selected, c.Added, c.Removed}
		}
		if theme.Background == Unknown {
			continue // it has the terminal's own colors, or none
		}
		for depth, as := range depths {
			for _, background := range behind {
				for name, foreground := range map[string]string{
					"text": c.Text, "muted": c.Muted, "accent": c.Accent, "user": c.User, "good": c.Good, "warn": c.Warn, "bad": c.Bad,
				} {
					if got := contrast(as(lipgloss.Color(foreground)), as(lipgloss.Color(background))); got < least {
						t.Errorf("%s, %s: %s (%s) on %s has %.2f, less than %.1f", theme.Name, depth, name, foreground, background, got, least)
					}
				}
			}
		}
	}
}

// TestSixteen: with 16 colors nothing is put behind the text, and the text is the
// terminal's own: no theme can know what the others look like.
func TestSixteen(t *testing.T) {
	t.Parallel()
	for _, theme := range Builtin {
		c := theme.Sixteen().Colors
		for name, behind := range map[string]string{"screen": c.Screen, "panel": c.Panel, "selected": c.Selected, "added": c.Added, "removed": c.Removed, "text": c.Text, "muted": c.Muted} {
			if behind != "" {
				t.Errorf("%s: %s is %s", theme.Name, name, behind)
			}
		}
		if s := New(theme.Sixteen()); !s.Selected.GetReverse() {
			t.Errorf("%s: what is chosen does not show", theme.Name)
		} else if !theme.Monochrome && (s.Added.GetForeground() == s.Text.GetForeground() || s.Removed.GetForeground() == s.Added.GetForeground()) {
			t.Errorf("%s: what is added and removed looks alike", theme.Name)
		}
	}
}
