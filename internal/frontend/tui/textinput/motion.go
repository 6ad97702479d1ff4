package textinput

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// At returns the position of the cursor.
func (b *Buffer) At() int { return b.at }

// Move moves the cursor. With extend, it extends the selection.
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

// Selected returns the selection; it is empty if both are equal.
func (b *Buffer) Selected() (from, to int) {
	if b.anchor == 0 {
		return b.at, b.at
	}
	return min(b.at, b.anchor-1), max(b.at, b.anchor-1)
}

// SelectAll selects everything.
func (b *Buffer) SelectAll() { b.anchor, b.at = 1, len(b.chars) }

// Slice returns a part of the text.
func (b *Buffer) Slice(from, to int) string { return join(b.chars[from:to]) }

// WordLeft returns the start of the word before the cursor.
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

// WordRight returns the end of the word after the cursor.
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

// BlankLeft returns the start of the non-blank text before the cursor.
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

// LineStart returns the start of the cursor's line.
func (b *Buffer) LineStart() int {
	i := b.at
	for i > 0 && b.chars[i-1].text != "\n" {
		i--
	}
	return i
}

// LineEnd returns the end of the cursor's line.
func (b *Buffer) LineEnd() int {
	i := b.at
	for i < len(b.chars) && b.chars[i].text != "\n" {
		i++
	}
	return i
}

// Range is a range of characters.
type Range struct{ From, To int }

// typedAt reports whether a character was typed and equals text.
func (b *Buffer) typedAt(i int, text string) bool {
	return i < len(b.chars) && b.chars[i].paste == 0 && b.chars[i].text == text
}

// StartsWith reports whether the text starts with this character, and it was typed.
func (b *Buffer) StartsWith(text string) bool { return b.typedAt(0, text) }

// FirstWord returns the first word, up to a blank or a folded paste.
func (b *Buffer) FirstWord() Range {
	to := 0
	for to < len(b.chars) && !b.chars[to].blank() && !b.chars[to].fold {
		to++
	}
	return Range{0, to}
}

// Mentions returns the words that start with a typed @, including it.
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

// mentionEnd returns the end of a mention's name; a quoted one may contain blanks.
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

// Mention returns the mention at the cursor: the text between a typed @ and the
// cursor, and its range.
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

// beforeMention reports whether a mention may follow this character.
func (c char) beforeMention() bool {
	return c.blank() || !c.fold && strings.ContainsAny(c.text, `("'[{`)
}

// inMention reports whether a mention may contain this character.
func (c char) inMention() bool { return !c.fold && Mentionable(c.text) }

// Mentionable reports whether a name can follow an @ without quotes.
func Mentionable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("_./~:-+#%$", r)
	})
}

// Confirm turns a pasted @name at the cursor into a mention, and returns it.
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

// Unfold expands the folded paste before the cursor. It returns false if none exists.
func (b *Buffer) Unfold() bool {
	if b.at == 0 || !b.chars[b.at-1].fold {
		return false
	}
	c := b.chars[b.at-1]
	chars := split(c.text, c.paste)
	b.replace(b.at-1, b.at, chars, b.at-1+len(chars))
	return true
}

// Put replaces a range with text that counts as typed.
func (b *Buffer) Put(r Range, s string) {
	chars := split(s, 0)
	b.replace(r.From, r.To, chars, r.From+len(chars))
}
