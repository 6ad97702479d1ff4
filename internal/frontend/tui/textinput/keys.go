package textinput

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// moves maps keys to cursor movements, as in readline.
var moves = map[string]func(b *Buffer) int{
	"left":       func(b *Buffer) int { return b.At() - 1 },
	"right":      func(b *Buffer) int { return b.At() + 1 },
	"ctrl+left":  (*Buffer).WordLeft,
	"alt+left":   (*Buffer).WordLeft,
	"alt+b":      (*Buffer).WordLeft,
	"ctrl+right": (*Buffer).WordRight,
	"alt+right":  (*Buffer).WordRight,
	"alt+f":      (*Buffer).WordRight,
	"home":       (*Buffer).LineStart,
	"ctrl+a":     (*Buffer).LineStart,
	"end":        (*Buffer).LineEnd,
	"alt+<":      func(*Buffer) int { return 0 },
	"alt+>":      (*Buffer).Len,
}

// selects maps keys that extend the selection to the movement.
var selects = map[string]string{
	"shift+left": "left", "shift+right": "right", "shift+home": "home", "shift+end": "end",
	"ctrl+shift+left": "ctrl+left", "ctrl+shift+right": "ctrl+right", "alt+shift+left": "alt+left", "alt+shift+right": "alt+right",
}

// edits maps keys to changes of the text.
var edits = map[string]func(b *Buffer){
	"backspace":     func(b *Buffer) { deleteOr(b, b.At()-1, b.At()) },
	"ctrl+h":        func(b *Buffer) { deleteOr(b, b.At()-1, b.At()) },
	"delete":        func(b *Buffer) { deleteOr(b, b.At(), b.At()+1) },
	"ctrl+w":        func(b *Buffer) { b.Kill(b.BlankLeft(), b.At()) },
	"alt+backspace": func(b *Buffer) { b.Kill(b.WordLeft(), b.At()) },
	"alt+d":         func(b *Buffer) { b.Kill(b.At(), b.WordRight()) },
	"ctrl+k":        killLine,
	"ctrl+u":        func(b *Buffer) { b.Kill(b.LineStart(), b.At()) },
	"alt+y":         (*Buffer).Yank,
	"alt+a":         (*Buffer).SelectAll,
}

func deleteOr(b *Buffer, from, to int) {
	if !b.DeleteSelected() {
		b.Delete(from, to)
	}
}

// killLine deletes to the end of the line, or the line break if the cursor is there.
func killLine(b *Buffer) {
	to := b.LineEnd()
	if to == b.At() {
		to++
	}
	b.Kill(b.At(), to)
}

// Effect is what a key did to a Buffer.
type Effect int

// The effects of Key.
const (
	Ignored  Effect = iota // not an editing key
	Moved                  // the cursor moved
	Selected               // the selection was extended
	Edited                 // the text may have changed
)

// Key applies an editing key: a movement, a deletion, or text that was typed.
func (b *Buffer) Key(k tea.KeyPressMsg) Effect {
	name := k.String()
	switch {
	case selects[name] != "":
		b.Move(moves[selects[name]](b), true)
		return Selected
	case moves[name] != nil:
		b.Move(moves[name](b), false)
		return Moved
	case edits[name] != nil:
		edits[name](b)
		return Edited
	case k.Text != "":
		b.Type(k.Text)
		return Edited
	}
	return Ignored
}

// KeyNames returns the names of the keys that Key handles, except text.
func KeyNames() []string {
	return slices.Concat(slices.Sorted(maps.Keys(moves)), slices.Sorted(maps.Keys(selects)), slices.Sorted(maps.Keys(edits)))
}

// LineKey applies a key to a one-line text whose cursor is always at its end, such
// as the query of a list, and returns the text.
func LineKey(text string, k tea.KeyPressMsg) string {
	switch k.String() {
	case "backspace", "ctrl+h":
		chars := split(text, 0)
		return join(chars[:max(0, len(chars)-1)])
	case "ctrl+w", "alt+backspace":
		return text[:strings.LastIndexByte(strings.TrimRight(text, " "), ' ')+1]
	case "ctrl+u":
		return ""
	}
	return text + k.Text
}

// LinePaste appends pasted text to a one-line text, with line breaks and runs of
// white space replaced by single spaces.
func LinePaste(text, pasted string) string {
	return text + strings.Join(strings.Fields(pasted), " ")
}
