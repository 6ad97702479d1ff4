package search

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// form formats a parsed pattern so that it means the same to Go and to
// ripgrep.
type form struct {
	word    string // syntax of a word boundary
	lacking bool   // the pattern cannot be expressed for ripgrep
	err     error
}

// spell returns the text of the pattern.
func (f *form) spell(re *syntax.Regexp) string {
	text, possible := f.node(re)
	if !possible {
		return "a" + f.word + "a" // never matches: there is no boundary between two letters
	}
	return text
}

// node formats a part of the pattern, in a group if it needs one. It reports
// false if the part cannot match in any line.
func (f *form) node(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpNoMatch:
		return "", false
	case syntax.OpEmptyMatch:
		return `(?:)`, true
	case syntax.OpLiteral:
		return f.literal(re)
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return class([]rune{0, unicode.MaxRune})
	case syntax.OpBeginLine, syntax.OpBeginText:
		return `(?m:^)`, true
	case syntax.OpEndLine, syntax.OpEndText:
		return `(?:\x{D}?(?m:$))`, true
	case syntax.OpWordBoundary:
		return f.word, true
	case syntax.OpNoWordBoundary:
		f.lacking = true // ripgrep's \B also matches within a character
		return `\B`, true
	case syntax.OpCapture:
		return f.node(re.Sub[0])
	case syntax.OpConcat:
		return f.concat(re.Sub)
	case syntax.OpAlternate:
		return f.alternate(re.Sub)
	default:
		return f.repeat(re)
	}
}

func (f *form) literal(re *syntax.Regexp) (string, bool) {
	var b strings.Builder
	for _, r := range re.Rune {
		switch {
		case r == '\n':
			f.err = errLineBreak
		case utf16.IsSurrogate(r):
			return "", false
		case r == utf8.RuneError:
			f.lacking = true // in Go it also matches every invalid byte
			fallthrough
		case re.Flags&syntax.FoldCase == 0:
			fmt.Fprintf(&b, `\x{%X}`, r)
		default:
			folded, ok := class(folds(r))
			if !ok {
				return "", false
			}
			b.WriteString(folded)
		}
	}
	return `(?:` + b.String() + `)`, true
}

// class formats a character class given as pairs of runes.
func class(pairs []rune) (string, bool) {
	var b strings.Builder
	for pair := range slices.Chunk(without(pairs, noRunes), 2) {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, pair[0], pair[1])
	}
	return `[` + b.String() + `]`, b.Len() > 0
}

func (f *form) concat(subs []*syntax.Regexp) (string, bool) {
	var b strings.Builder
	for _, sub := range subs {
		text, possible := f.node(sub)
		if !possible {
			return "", false
		}
		b.WriteString(text)
	}
	return `(?:` + b.String() + `)`, true
}

func (f *form) alternate(subs []*syntax.Regexp) (string, bool) {
	var texts []string
	for _, sub := range subs {
		if text, possible := f.node(sub); possible {
			texts = append(texts, text)
		}
	}
	return `(?:` + strings.Join(texts, "|") + `)`, len(texts) > 0
}

// repeat formats *, +, ? and {n,m}.
func (f *form) repeat(re *syntax.Regexp) (string, bool) {
	least, most := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		least, most = 0, 1
	}
	text, possible := f.node(re.Sub[0])
	if !possible {
		return `(?:)`, least == 0
	}
	count := fmt.Sprintf("{%d,}", least)
	if most >= 0 {
		count = fmt.Sprintf("{%d,%d}", least, most)
	}
	if re.Flags&syntax.NonGreedy != 0 {
		count += "?"
	}
	return `(?:` + text + count + `)`, true
}
