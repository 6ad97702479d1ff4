package textinput

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// At is where the cursor is.
func (b *Buffer) At() int { return b.at }

// Move puts the cursor somewhere. With extend, what it passes is selected.
func (b *Buffer) Move(to int, extend bool) {
	b.column = 0
	b.moveTo(to, extend)
}

func (b *Buffer) moveTo(to int, extend bool) {
	switch {
	case !extend:
		b.anchor = 0
	case b.anchor == 0:
		b.anchor = b.at + 1
	}
	b.at = min(max(to, 0), len(b.chars))
	b.mergeNext = false
}

// Selected is what is selected: nothing if both are the same.
func (b *Buffer) Selected() (from, to int) {
	if b.anchor == 0 {
		return b.at, b.at
	}
	return min(b.at, b.anchor-1), max(b.at, b.anchor-1)
}

// SelectAll selects everything.
func (b *Buffer) SelectAll() { b.anchor, b.at = 1, len(b.chars) }

// Slice is a stretch of the text.
func (b *Buffer) Slice(from, to int) string { return join(b.chars[from:to]) }

// WordLeft is where the word before the cursor begins.
func (b *Buffer) WordLeft() int {
	i := b.at
	for i > 0 && !b.chars[i-1].word() {
		i--
	}
	if i > 0 && b.chars[i-1].fold {
		return i - 1
	}
	for i > 0 && b.chars[i-1].word() && !b.chars[i-1].fold {
		i--
	}
	return i
}

// WordRight is where the word behind the cursor ends.
func (b *Buffer) WordRight() int {
	i := b.at
	for i < len(b.chars) && !b.chars[i].word() {
		i++
	}
	if i < len(b.chars) && b.chars[i].fold {
		return i + 1
	}
	for i < len(b.chars) && b.chars[i].word() && !b.chars[i].fold {
		i++
	}
	return i
}

// BlankLeft is where what is no blank begins before the cursor, and the blanks
// behind it.
func (b *Buffer) BlankLeft() int {
	i := b.at
	for i > 0 && b.chars[i-1].blank() {
		i--
	}
	for i > 0 && !b.chars[i-1].blank() {
		i--
	}
	return i
}

func (c char) word() bool {
	r, _ := utf8.DecodeRuneInString(c.text)
	return c.fold || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (c char) blank() bool {
	r, _ := utf8.DecodeRuneInString(c.text)
	return !c.fold && unicode.IsSpace(r)
}

// LineStart and LineEnd are the ends of the line that the cursor is in.
func (b *Buffer) LineStart() int {
	i := b.at
	for i > 0 && b.chars[i-1].text != "\n" {
		i--
	}
	return i
}

// LineEnd is the end of the line that the cursor is in.
func (b *Buffer) LineEnd() int {
	i := b.at
	for i < len(b.chars) && b.chars[i].text != "\n" {
		i++
	}
	return i
}

// Range is a stretch of characters.
type Range struct{ From, To int }

// typed reports whether a character was typed, and is this one.
func (b *Buffer) typedAt(i int, text string) bool {
	return i < len(b.chars) && b.chars[i].paste == 0 && b.chars[i].text == text
}

// Begins reports whether the text begins with a character that was typed.
func (b *Buffer) StartsWith(text string) bool { return b.typedAt(0, text) }

// First is the first word of the text, up to a blank or a paste that is folded.
func (b *Buffer) FirstWord() Range {
	to := 0
	for to < len(b.chars) && !b.chars[to].blank() && !b.chars[to].fold {
		to++
	}
	return Range{0, to}
}

// Mentions returns the words that begin with an @ that was typed, with it.
func (b *Buffer) Mentions() []Range {
	var list []Range
	for i := 0; i < len(b.chars); i++ {
		if !b.typedAt(i, "@") || i > 0 && !b.chars[i-1].beforeMention() {
			continue
		}
		to := b.mentionEnd(i + 1)
		if to > i+1 {
			list = append(list, Range{i, to})
		}
		i = to - 1
	}
	return list
}

// mentionEnd is where a name ends that begins somewhere: in quotes it may have
// blanks.
func (b *Buffer) mentionEnd(from int) int {
	to := from
	if b.typedAt(from, `"`) {
		for to++; to < len(b.chars) && b.chars[to].text != "\n" && !b.chars[to].fold; to++ {
			if b.typedAt(to, `"`) {
				return to + 1
			}
		}
		return from
	}
	for to < len(b.chars) && b.chars[to].inMention() {
		to++
	}
	return to
}

// Mention returns the mention that is being written: what stands between an @ that
// was typed and the cursor, and where both are.
func (b *Buffer) Mention() (query string, at Range, ok bool) {
	from := b.at
	for from > 0 && b.chars[from-1].inMention() {
		from--
	}
	if from--; from < 0 || !b.typedAt(from, "@") || from > 0 && !b.chars[from-1].beforeMention() {
		return "", Range{}, false
	}
	return b.Slice(from+1, b.at), Range{from, b.at}, true
}

// opens reports whether a mention may follow a character.
func (c char) beforeMention() bool {
	return c.blank() || !c.fold && strings.ContainsAny(c.text, `("'[{`)
}

// mentions reports whether a character may be part of a mention.
func (c char) inMention() bool { return !c.fold && Mentionable(c.text) }

// Mentionable reports whether a name can stand behind an @ as it is.
func Mentionable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("_./~:-+#%$", r)
	})
}

// Confirm makes a mention of a word with an @ that was pasted, if the cursor is in
// it or right behind it, and returns it.
func (b *Buffer) Confirm() (string, bool) {
	from := b.at
	for from > 0 && b.chars[from-1].inMention() {
		from--
	}
	if from--; from < 0 || b.chars[from].text != "@" || b.chars[from].fold || b.chars[from].paste == 0 {
		return "", false
	}
	to := b.at
	for to < len(b.chars) && b.chars[to].inMention() {
		to++
	}
	word := b.Slice(from, to)
	b.Put(Range{from, to}, word)
	return word, true
}

// Unfold shows the paste before the cursor in full. It returns false if there is
// none that is folded.
func (b *Buffer) Unfold() bool {
	if b.at == 0 || !b.chars[b.at-1].fold {
		return false
	}
	c := b.chars[b.at-1]
	chars := split(c.text, c.paste)
	b.replace(b.at-1, b.at, chars, b.at-1+len(chars))
	return true
}

// Put replaces a stretch with a text that counts as typed.
func (b *Buffer) Put(r Range, s string) {
	chars := split(s, 0)
	b.replace(r.From, r.To, chars, r.From+len(chars))
}
