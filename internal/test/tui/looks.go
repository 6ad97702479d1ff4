package tui

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// Looks returns the screen with a letter for the style of each cell: the meaning of
// its color in the theme, not the color itself.
//
//	.  text          m  muted      a  accent      u  the user's
//	g  good          w  warning    b  bad         |  border
//	B  bold          S  selected   P  panel       +  added       -  removed
//	R  reversed      n  no color   ?  a color that is not in the theme
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
	if s.Fore == k.Text { // first: a theme may use one color twice
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
