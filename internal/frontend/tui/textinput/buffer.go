// Package textinput is the text input widget of prompts, dialogs and search fields:
// grapheme clusters, cursor, selection, undo and readline keys.
//
// It records what was typed and what was pasted. A paste is literal: only typed text
// is searched for commands and mentions.
package textinput

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// char is a grapheme cluster, or a folded paste.
type char struct {
	text  string
	paste int  // number of the paste; 0 means typed
	fold  bool // shown as a label
}

// Buffer is an editable text. The zero value is empty and ready for use.
type Buffer struct {
	chars    []char
	at       int // the cursor is before this character
	anchor   int // other end of the selection, plus one; 0 means no selection
	column   int // column that up and down keep, plus one
	killRing []char
	pastes   int

	undo, redo []edit
	mergeNext  bool // the next typed letter is merged with the last edit

	rows      []Row
	rowsWidth int // width of rows; 0 means that they are outdated
}

// edit is an undoable change.
type edit struct {
	at            int
	old, new      []char
	before, after int // cursor positions
}

// maxChanges bounds the undo history.
const maxChanges = 1000

// split splits a text into characters.
func split(s string, paste int) []char {
	s = lineEnds.Replace(s)
	chars := make([]char, 0, len(s))
	for s != "" {
		if s[0] == '\n' { // never part of a cluster
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

// replace replaces characters. All changes go through it.
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

// Undo reverts the last change. It returns false if none exists.
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

// Redo repeats an undone change.
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

// Type inserts typed text at the cursor, replacing the selection.
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

// join merges two insertions that are adjacent.
func (b *Buffer) join(first *edit, second edit) {
	if len(first.old) != 0 || len(second.old) != 0 || second.at != first.at+len(first.new) {
		return
	}
	first.new = append(append([]char(nil), first.new...), second.new...)
	first.after = second.after
	b.undo = b.undo[:len(b.undo)-1]
}

// Paste inserts pasted text at the cursor and returns the number of the paste. A
// folded paste is shown as a label and is one character.
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

// insert inserts characters. Combining characters are merged with their neighbor.
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
	if before != "" && len(chars) > 0 && chars[0].text == before { // the usual case
		from, chars = from+1, chars[1:]
	}
	if n := len(chars); behind != "" && n > 0 && chars[n-1].text == behind && after <= from+n-1 {
		to, chars = to-1, chars[:n-1]
	}
	b.replace(from, to, chars, after)
}

// joins reports whether an inserted character may combine with this one.
func (c char) joins(paste int) bool { return !c.fold && c.text != "\n" && c.paste == paste }

// Delete deletes characters.
func (b *Buffer) Delete(from, to int) {
	if from, to = max(0, from), min(to, len(b.chars)); from < to {
		b.replace(from, to, nil, from)
	}
}

// Kill deletes characters and keeps them for Yank.
func (b *Buffer) Kill(from, to int) {
	if from, to = max(0, from), min(to, len(b.chars)); from < to {
		b.killRing = append([]char(nil), b.chars[from:to]...)
		b.replace(from, to, nil, from)
	}
}

// Yank inserts the killed characters. Pasted ones still count as pasted.
func (b *Buffer) Yank() {
	b.DeleteSelected()
	if len(b.killRing) > 0 {
		b.replace(b.at, b.at, append([]char(nil), b.killRing...), b.at+len(b.killRing))
	}
}

// DeleteSelected deletes the selection. It returns false if none exists.
func (b *Buffer) DeleteSelected() bool {
	from, to := b.Selected()
	b.Delete(from, to)
	return from < to
}

// Clear deletes everything. It can be undone.
func (b *Buffer) Clear() { b.Delete(0, len(b.chars)) }

// Len returns the number of characters.
func (b *Buffer) Len() int { return len(b.chars) }

// String returns the text, with folded pastes in full.
func (b *Buffer) String() string { return join(b.chars) }

func join(chars []char) string {
	var s strings.Builder
	for _, c := range chars {
		s.WriteString(c.text)
	}
	return s.String()
}

// Piece is a part of the text that was typed, or pasted at once.
type Piece struct {
	Text   string `json:"text"`
	Pasted bool   `json:"pasted,omitempty"`
	Folded bool   `json:"folded,omitempty"`
}

// Pieces returns the text as typed and pasted pieces.
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

// Set replaces everything, as one change. The cursor moves to the end.
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

// TakePaste removes a paste if it is still complete and unchanged.
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

// label is shown for a folded paste.
func (c char) label() string {
	if n := strings.Count(strings.TrimRight(c.text, "\n"), "\n"); n > 0 {
		return fmt.Sprintf("[pasted %d lines]", n+1)
	}
	return fmt.Sprintf("[pasted %d characters]", utf8.RuneCountInString(c.text))
}
