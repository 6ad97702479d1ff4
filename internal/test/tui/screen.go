package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Style is the style of a cell. Colors are #rrggbb, or "" for the terminal's own.
type Style struct {
	Fore, Back                                      string
	Bold, Faint, Italic, Underline, Reverse, Hidden bool
}

// Cell is a character on the screen. A wide one is followed by a cell without text.
type Cell struct {
	Text  string
	Style Style
}

// Screen is the lines of cells.
type Screen [][]Cell

// parse parses what tmux captured: text with SGR sequences.
func parse(captured string) Screen {
	var s Screen
	var style Style
	p := ansi.NewParser()
	for line := range strings.SplitSeq(strings.TrimSuffix(captured, "\n"), "\n") {
		var cells []Cell
		state := byte(0)
		for line != "" {
			seq, width, n, next := ansi.DecodeSequence(line, state, p)
			state, line = next, line[n:]
			switch {
			case width > 0:
				cells = append(cells, Cell{seq, style})
				for range width - 1 {
					cells = append(cells, Cell{"", style})
				}
			case p.Command() == 'm' && strings.HasPrefix(seq, "\x1b["):
				style = style.with(p.Params())
			}
		}
		s = append(s, cells)
	}
	return s
}

// with returns the style after an SGR sequence.
func (s Style) with(params ansi.Params) Style {
	if len(params) == 0 {
		return Style{}
	}
	for i := 0; i < len(params); i++ {
		switch n := params[i].Param(0); {
		case n == 0:
			s = Style{}
		case n == 38 || n == 48:
			color, used := colorOf(params[i+1:])
			if n == 38 {
				s.Fore = color
			} else {
				s.Back = color
			}
			i += used
		case n == 39:
			s.Fore = ""
		case n == 49:
			s.Back = ""
		case n >= 30 && n <= 37 || n >= 90 && n <= 97:
			s.Fore = fmt.Sprintf("ansi %d", n)
		case n >= 40 && n <= 47 || n >= 100 && n <= 107:
			s.Back = fmt.Sprintf("ansi %d", n)
		default:
			s = s.weight(n)
		}
	}
	return s
}

func (s Style) weight(n int) Style {
	switch n {
	case 1:
		s.Bold = true
	case 2:
		s.Faint = true
	case 3:
		s.Italic = true
	case 4:
		s.Underline = true
	case 7:
		s.Reverse = true
	case 9:
		s.Hidden = true
	case 22:
		s.Bold, s.Faint = false, false
	case 23:
		s.Italic = false
	case 24:
		s.Underline = false
	case 27:
		s.Reverse = false
	case 29:
		s.Hidden = false
	}
	return s
}

// colorOf parses a color, and returns how many parameters it used.
func colorOf(params ansi.Params) (string, int) {
	at := func(i int) int { return params[i].Param(0) }
	switch {
	case len(params) >= 4 && at(0) == 2:
		return fmt.Sprintf("#%02x%02x%02x", at(1), at(2), at(3)), 4
	case len(params) >= 2 && at(0) == 5:
		return fmt.Sprintf("ansi %d", at(1)), 2
	}
	return "", 0
}

// String returns the text without trailing blanks.
func (s Screen) String() string {
	var b strings.Builder
	for _, row := range s {
		b.WriteString(strings.TrimRight(textOf(row), " ") + "\n")
	}
	return b.String()
}

func textOf(row []Cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.Text)
	}
	return b.String()
}

// Has reports whether a line contains the text.
func (s Screen) Has(text string) bool { return strings.Contains(s.String(), text) }
