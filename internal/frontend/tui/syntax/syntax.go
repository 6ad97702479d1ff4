// Package syntax highlights code line by line: keywords, strings, numbers and comments
// of common languages. It has no grammars, so that it needs one pass over each line
// and can continue at any line; mistakes affect colors only.
package syntax

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// kind is the kind of a token.
type kind int

const (
	other kind = iota
	keyword
	str // string literal
	number
	comment
	name // of a function call or a key
	kinds
)

// Palette holds the style of each kind of token.
type Palette [kinds]layout.SGR

// NewPalette returns the styles of a theme.
func NewPalette(s *theme.Styles) *Palette {
	comments := s.Muted
	if s.Theme.Monochrome {
		return &Palette{keyword: layout.Bold}
	}
	return &Palette{
		other: layout.SGROf(s.Text), keyword: layout.SGROf(s.Accent), str: layout.SGROf(s.Good), number: layout.SGROf(s.Warn),
		comment: layout.SGROf(comments.Italic(true)), name: layout.SGROf(s.User),
	}
}

// Lexer tokenizes code line by line. It is a value: a copy continues independently.
type Lexer struct {
	lang *language
	open string // closing delimiter of an open multi-line string or comment; ""
	kind kind   // its kind
}

// For returns a lexer by language name or file path. Unknown languages are not
// highlighted.
func For(nameOrPath string) Lexer { return Lexer{lang: lookup(nameOrPath)} }

// Line returns the tokens of the next line as spans, each style appended to under. The
// concatenated text is the line.
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

// next returns the length and kind of the first token.
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

// pair handles the start of a string or block comment.
func (l *Lexer) pair(line string, p pair) (int, kind) {
	rest := line[len(p.begin):]
	n := endOf(rest, p.end)
	switch {
	case n >= 0:
		return len(p.begin) + n, p.kind
	case p.multiline:
		l.open, l.kind = p.end, p.kind
		return len(line), p.kind
	case p.begin == "'": // an apostrophe or a Rust lifetime
		return 1, other
	}
	return len(line), p.kind
}

// endOf returns the position after the closing delimiter, or -1.
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

// plain reports whether a byte cannot start a token.
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
