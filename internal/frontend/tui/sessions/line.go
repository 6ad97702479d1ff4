package sessions

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// line is a text that is written at its end.
type line struct{ text string }

// add takes a text that was pasted.
func (l *line) add(text string) { l.text += strings.Join(strings.Fields(text), " ") }

// key takes a key. It reports whether the text has changed.
func (l *line) key(k tea.KeyPressMsg) bool {
	before := l.text
	switch k.String() {
	case "backspace":
		if r := []rune(l.text); len(r) > 0 {
			l.text = string(r[:len(r)-1])
		}
	case "ctrl+w", "alt+backspace":
		l.text = l.text[:strings.LastIndexByte(strings.TrimRight(l.text, " "), ' ')+1]
	case "ctrl+u":
		l.text = ""
	default:
		l.text += k.Text
	}
	return l.text != before
}
