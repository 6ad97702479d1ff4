package tui

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Looks draws a screen a second time, with a letter for how each cell looks in a
// theme: what a color means, and not which one it is.
//
//	.  text          m  muted      a  accent      u  the person's
//	g  good          w  warning    b  bad         |  border
//	B  bold          S  selected   P  panel       +  added       -  removed
//	R  reversed      n  no color   ?  a color that the theme does not have
func (s Screen) Looks(t theme.Theme) string {
	var b strings.Builder
	for _, row := range s {
		var line strings.Builder
		for _, c := range row {
			line.WriteByte(look(c, t.Colors))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

func look(c Cell, k theme.Colors) byte {
	s := c.Style
	switch {
	case s.Reverse:
		return 'R'
	case s.Back != "":
		return named(s.Back, map[string]byte{k.Selected: 'S', k.Panel: 'P', k.Added: '+', k.Removed: '-'})
	case strings.TrimSpace(c.Text) == "":
		return ' '
	case s.Bold && (s.Fore == k.Text || s.Fore == ""):
		return 'B'
	case s.Fore == "":
		return 'n'
	}
	if s.Fore == k.Text { // first: a theme may use one color for two things
		return '.'
	}
	return named(s.Fore, map[string]byte{k.Border: '|', k.Muted: 'm', k.Accent: 'a', k.User: 'u', k.Good: 'g', k.Warn: 'w', k.Bad: 'b'})
}

func named(color string, names map[string]byte) byte {
	if name, ok := names[color]; ok {
		return name
	}
	return '?'
}
