// Package syntax colors code, a line at a time: words, texts, numbers and remarks
// of the usual languages. It knows no grammar, so its cost is that of one look at
// each byte, and what it takes wrongly is a matter of color only.
package syntax

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// kind says what a piece of code is.
type kind int

const (
	other kind = iota
	keyword
	str // a text
	number
	comment
	name // of what is called or set
	kinds
)

// Inks are how the pieces look in a theme.
type Palette [kinds]layout.SGR

// InksOf returns those of a theme.
func NewPalette(s *theme.Styles) *Palette {
	remarks := s.Muted
	if s.Theme.Plain {
		return &Palette{keyword: layout.Bold}
	}
	return &Palette{
		other: layout.SGROf(s.Text), keyword: layout.SGROf(s.Accent), str: layout.SGROf(s.Good), number: layout.SGROf(s.Warn),
		comment: layout.SGROf(remarks.Italic(true)), name: layout.SGROf(s.User),
	}
}

// Lexer reads code line by line. It is a value: a copy goes on by itself.
type Lexer struct {
	lang *language
	open string // what ends the text or remark that goes over lines; "" outside
	kind kind   // of it
}

// For returns a lexer for a language by its name, or a file by its path. Of one
// that is not known all is alike.
func For(nameOrPath string) Lexer { return Lexer{lang: lookup(nameOrPath)} }

// Line returns the pieces of the next line, in their inks on top of another one.
// The line's text is that of the pieces, joined.
func (l *Lexer) Line(line string, palette *Palette, under layout.SGR) []layout.Span {
	if l.lang == nil {
		return []layout.Span{{Text: line, SGR: under + palette[other]}}
	}
	var spans []layout.Span
	from, was := 0, other
	for at := 0; at < len(line); {
		n, k := l.next(line[at:])
		if k != was && at > from {
			spans = append(spans, layout.Span{Text: line[from:at], SGR: under + palette[was]})
			from = at
		}
		was = k
		at += n
	}
	return append(spans, layout.Span{Text: line[from:], SGR: under + palette[was]})
}

// next returns the first piece of a line.
func (l *Lexer) next(line string) (int, kind) {
	if l.open != "" {
		k, n := l.kind, endOf(line, l.open)
		if n < 0 {
			return len(line), k
		}
		l.open = ""
		return n, k
	}
	for _, mark := range l.lang.comments {
		if strings.HasPrefix(line, mark) {
			return len(line), comment
		}
	}
	for _, p := range l.lang.pairs {
		if strings.HasPrefix(line, p.begin) {
			return l.pair(line, p)
		}
	}
	switch c := line[0]; {
	case c >= '0' && c <= '9':
		return span(line, inNumber), number
	case inWord(c):
		return l.word(line)
	default:
		return 1 + span(line[1:], l.plain), other
	}
}

// pair takes a text or a remark of many lines.
func (l *Lexer) pair(line string, p pair) (int, kind) {
	rest := line[len(p.begin):]
	n := endOf(rest, p.end)
	switch {
	case n >= 0:
		return len(p.begin) + n, p.kind
	case p.multiline:
		l.open, l.kind = p.end, p.kind
		return len(line), p.kind
	case p.begin == "'": // an apostrophe, a lifetime
		return 1, other
	}
	return len(line), p.kind
}

// ending returns where a text is over, behind its end, or -1.
func endOf(s, end string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && end != "`" && end != "*/":
			i++
		case strings.HasPrefix(s[i:], end):
			return i + len(end)
		}
	}
	return -1
}

func (l *Lexer) word(line string) (int, kind) {
	n := span(line, inWord)
	text := line[:n]
	if l.lang.ignoreCase {
		text = strings.ToLower(text)
	}
	rest := strings.TrimLeft(line[n:], " ")
	switch {
	case l.lang.words[text]:
		return n, keyword
	case strings.HasPrefix(rest, "(") && len(rest) == len(line)-n, l.lang.keys && strings.HasPrefix(rest, ":"):
		return n, name
	}
	return n, other
}

// dull reports whether a byte can begin nothing.
func (l *Lexer) plain(c byte) bool {
	return !inWord(c) && !strings.ContainsRune(l.lang.starts, rune(c))
}

func span(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func inNumber(c byte) bool { return c == '.' || inWord(c) && c < 0x80 && c != '$' }
