// Package textinput is a text that is being written: characters as people see them, a
// place to write, what is selected, and all that was done to it.
//
// It knows what was typed and what was pasted. A paste is literal: whoever reads
// a command, a name or an order out of the text looks at what was typed alone.
package textinput

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// char is a character as people see it, or all of a paste that is folded.
type char struct {
	text  string
	paste int  // which paste it came with; 0 means that it was typed
	fold  bool // a label is shown in its place
}

// Buffer is the text. The zero value is empty and ready for use.
type Buffer struct {
	chars    []char
	at       int // the cursor is before this character
	anchor   int // the other end of what is selected, plus one; 0 means nothing is
	column   int // the column that up and down keep to, plus one
	killRing []char
	pastes   int

	undo, redo []edit
	mergeNext  bool // the next letter belongs to the newest change

	rows      []Row
	rowsWidth int // of rows; 0 means that they are to be made anew
}

// change is one thing that was done to the text.
type edit struct {
	at            int
	old, new      []char
	before, after int // the cursor
}

// maxChanges bounds what can be undone.
const maxChanges = 1000

// split takes a text apart into characters.
func split(s string, paste int) []char {
	s = lineEnds.Replace(s)
	chars := make([]char, 0, len(s))
	for s != "" {
		if s[0] == '\n' { // never part of another
			chars = append(chars, char{text: "\n", paste: paste})
			s = s[1:]
			continue
		}
		c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		chars = append(chars, char{text: c, paste: paste})
		s = s[len(c):]
	}
	return chars
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// replace puts characters in the place of others. All changes go through here.
func (b *Buffer) replace(from, to int, with []char, after int) {
	c := edit{at: from, old: append([]char(nil), b.chars[from:to]...), new: with, before: b.at, after: after}
	b.apply(c.at, len(c.old), c.new, after)
	b.redo = nil
	if b.undo = append(b.undo, c); len(b.undo) > maxChanges {
		b.undo = b.undo[1:]
	}
	b.mergeNext = false
}

func (b *Buffer) apply(at, n int, with []char, cursor int) {
	tail := append([]char(nil), b.chars[at+n:]...)
	b.chars = append(append(b.chars[:at], with...), tail...)
	b.at, b.anchor, b.column, b.rowsWidth = cursor, 0, 0, 0
}

// Undo takes the newest change back. It returns false if there is none.
func (b *Buffer) Undo() bool {
	n := len(b.undo)
	if n == 0 {
		return false
	}
	c := b.undo[n-1]
	b.undo, b.redo, b.mergeNext = b.undo[:n-1], append(b.redo, c), false
	b.apply(c.at, len(c.new), c.old, c.before)
	return true
}

// Redo does again what was taken back.
func (b *Buffer) Redo() bool {
	n := len(b.redo)
	if n == 0 {
		return false
	}
	c := b.redo[n-1]
	b.redo, b.undo, b.mergeNext = b.redo[:n-1], append(b.undo, c), false
	b.apply(c.at, len(c.old), c.new, c.after)
	return true
}

// Type puts a text where the cursor is, as typed, in place of what is selected.
func (b *Buffer) Type(s string) {
	if b.DeleteSelected(); s == "" {
		return
	}
	join := b.mergeNext && len(b.undo) > 0 && b.undo[len(b.undo)-1].after == b.at
	b.insert(s, 0)
	if n := len(b.undo); join && n > 1 {
		b.join(&b.undo[n-2], b.undo[n-1])
	}
	b.mergeNext = !strings.ContainsAny(s, " \t\n")
}

// join makes one change of two if they are letters that follow each other.
func (b *Buffer) join(first *edit, second edit) {
	if len(first.old) != 0 || len(second.old) != 0 || second.at != first.at+len(first.new) {
		return
	}
	first.new = append(append([]char(nil), first.new...), second.new...)
	first.after = second.after
	b.undo = b.undo[:len(b.undo)-1]
}

// Paste puts a text where the cursor is, as pasted, and returns its number. One
// that is folded shows as a label, and is one character.
func (b *Buffer) Paste(s string, fold bool) int {
	b.DeleteSelected()
	b.pastes++
	if fold {
		b.replace(b.at, b.at, []char{{text: lineEnds.Replace(s), paste: b.pastes, fold: true}}, b.at+1)
	} else {
		b.insert(s, b.pastes)
	}
	return b.pastes
}

// insert puts characters in. Those that belong to a neighbor, such as an accent,
// become one with it.
func (b *Buffer) insert(s string, paste int) {
	s = lineEnds.Replace(s)
	from, to, before, behind := b.at, b.at, "", ""
	if from > 0 && b.chars[from-1].joins(paste) {
		from--
		before = b.chars[from].text
	}
	if to < len(b.chars) && b.chars[to].joins(paste) {
		behind = b.chars[to].text
		to++
	}
	chars := split(before+s+behind, paste)
	after, n := from, 0
	for _, c := range chars {
		if n >= len(before)+len(s) {
			break
		}
		n += len(c.text)
		after++
	}
	if before != "" && len(chars) > 0 && chars[0].text == before { // as mostly
		from, chars = from+1, chars[1:]
	}
	if n := len(chars); behind != "" && n > 0 && chars[n-1].text == behind && after <= from+n-1 {
		to, chars = to-1, chars[:n-1]
	}
	b.replace(from, to, chars, after)
}

// joins reports whether what stands beside a character may become one with it.
func (c char) joins(paste int) bool { return !c.fold && c.text != "\n" && c.paste == paste }

// Delete takes characters out.
func (b *Buffer) Delete(from, to int) {
	if from, to = max(0, from), min(to, len(b.chars)); from < to {
		b.replace(from, to, nil, from)
	}
}

// Kill takes characters out and keeps them for Yank.
func (b *Buffer) Kill(from, to int) {
	if from, to = max(0, from), min(to, len(b.chars)); from < to {
		b.killRing = append([]char(nil), b.chars[from:to]...)
		b.replace(from, to, nil, from)
	}
}

// Yank puts what was killed where the cursor is: what was pasted stays pasted.
func (b *Buffer) Yank() {
	b.DeleteSelected()
	if len(b.killRing) > 0 {
		b.replace(b.at, b.at, append([]char(nil), b.killRing...), b.at+len(b.killRing))
	}
}

// DeleteSelected takes out what is selected. It returns false if nothing is.
func (b *Buffer) DeleteSelected() bool {
	from, to := b.Selected()
	b.Delete(from, to)
	return from < to
}

// Clear takes everything out. It can be undone.
func (b *Buffer) Clear() { b.Delete(0, len(b.chars)) }

// Len is how many characters there are.
func (b *Buffer) Len() int { return len(b.chars) }

// String is the text, what is folded in full.
func (b *Buffer) String() string { return join(b.chars) }

func join(chars []char) string {
	var s strings.Builder
	for _, c := range chars {
		s.WriteString(c.text)
	}
	return s.String()
}

// Piece is a stretch of the text that was typed, or pasted at once.
type Piece struct {
	Text   string `json:"text"`
	Pasted bool   `json:"pasted,omitempty"`
	Folded bool   `json:"folded,omitempty"`
}

// Pieces returns the text by where it came from.
func (b *Buffer) Pieces() []Piece {
	var pieces []Piece
	for from := 0; from < len(b.chars); {
		to := from + 1
		for to < len(b.chars) && b.chars[to].paste == b.chars[from].paste && !b.chars[from].fold && !b.chars[to].fold {
			to++
		}
		c := b.chars[from]
		pieces = append(pieces, Piece{Text: join(b.chars[from:to]), Pasted: c.paste != 0, Folded: c.fold})
		from = to
	}
	return pieces
}

// Set replaces everything, as one change. The cursor is at the end.
func (b *Buffer) Set(pieces []Piece) {
	var chars []char
	for _, p := range pieces {
		paste := 0
		if p.Pasted || p.Folded {
			b.pastes++
			paste = b.pastes
		}
		if p.Folded {
			chars = append(chars, char{text: lineEnds.Replace(p.Text), paste: paste, fold: true})
		} else {
			chars = append(chars, split(p.Text, paste)...)
		}
	}
	b.replace(0, len(b.chars), chars, len(chars))
}

// TakePaste takes a paste out again, if all of it still is there as it came.
func (b *Buffer) TakePaste(paste int, as string) bool {
	from, to := -1, -1
	for i, c := range b.chars {
		if c.paste == paste {
			if to >= 0 && to != i {
				return false
			}
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	if from < 0 || join(b.chars[from:to]) != lineEnds.Replace(as) {
		return false
	}
	at := b.at
	b.Delete(from, to)
	if at >= to {
		b.at = at - (to - from)
	} else if at < from {
		b.at = at
	}
	return true
}

// label is what is shown in place of a paste that is folded.
func (c char) label() string {
	if n := strings.Count(strings.TrimRight(c.text, "\n"), "\n"); n > 0 {
		return fmt.Sprintf("[pasted %d lines]", n+1)
	}
	return fmt.Sprintf("[pasted %d characters]", utf8.RuneCountInString(c.text))
}
