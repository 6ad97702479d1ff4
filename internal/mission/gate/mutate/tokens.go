package mutate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token. Comments and directives are not tokens.
type kind byte

const (
	word   kind = iota // names and keywords
	number             //
	str                // string, or one part of a string with expressions in it
	char
	regex
	operator
	opening // ( [ {
	closing // ) ] }
)

// tok is a token of the code.
type tok struct {
	kind       kind
	start, end int
	line       int // of its start
	text       string
	keyword    bool
	typeName   bool
	decorator  bool
}

// operators are the operators that are longer than one character, longest first.
var operators = []string{
	">>>=", "<<<", "===", "!==", "<=>", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "...", "..=", "..<", "//=", "=:=", "=/=", "&^=", "!~~",
	"->", "=>", "<-", ":=", "::", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=",
	"<<", ">>", "**", "//", "~=", "=~", "!~", "|>", "<>", "..", "&^", ";;", "<|",
}

func (s *Source) tokenize() {
	for i := 0; i < len(s.spans); {
		part := s.spans[i]
		switch part.class {
		case classString:
			s.addToken(str, part.start, part.end)
		case classChar:
			s.addToken(char, part.start, part.end)
		case classRegexp:
			s.addToken(regex, part.start, part.end)
		case classCode:
			last := i
			for last+1 < len(s.spans) && s.spans[last+1].class == classCode {
				last++
			}
			s.tokenizeCode(s.spans[i : last+1])
			i = last
		}
		i++
	}
}

// dropDocs removes the strings that are documentation: statements of their own in
// Python, values of @doc in Elixir.
func (s *Source) dropDocs() {
	if s.lang.family != familyIndent && s.lang.name != "Elixir" {
		return
	}
	kept := s.tokens[:0:0]
	depth := 0
	for i, t := range s.tokens {
		switch t.kind {
		case opening:
			depth++
		case closing:
			depth--
		}
		alone := depth == 0 && (i == 0 || s.endLine(s.tokens[i-1]) < t.line && !s.continued(s.tokens[i-1].end, t.start)) &&
			(i+1 == len(s.tokens) || s.tokens[i+1].line > s.endLine(t))
		doc := i > 0 && strings.HasPrefix(s.tokens[i-1].text, "@") && strings.HasSuffix(s.tokens[i-1].text, "doc")
		switch {
		case t.kind == str && doc:
			kept = kept[:len(kept)-1]
		case t.kind != str || !alone || s.lang.family != familyIndent:
			kept = append(kept, t)
		}
	}
	s.tokens = kept
}

func (s *Source) indexLines() {
	s.first = make([]int, len(s.lines)+2)
	line := 0
	for i, t := range s.tokens {
		for ; line <= t.line; line++ {
			s.first[line] = i
		}
	}
	for ; line < len(s.first); line++ {
		s.first[line] = len(s.tokens)
	}
}

func (s *Source) addToken(k kind, start, end int) {
	s.tokens = append(s.tokens, tok{kind: k, start: start, end: end, line: s.lineOf(start), text: s.text[start:end]})
}

// tokenizeCode splits adjacent spans of code. The lexers disagree on where operators,
// numbers and names end, so their tokens only tell what a name is.
func (s *Source) tokenizeCode(parts []span) {
	end := parts[len(parts)-1].end
	for at := parts[0].start; at < end; {
		for parts[0].end <= at {
			parts = parts[1:]
		}
		k, size := s.nextToken(at, end)
		if size == 0 {
			_, n := utf8.DecodeRuneInString(s.text[at:])
			at += n
			continue
		}
		s.addToken(k, at, at+size)
		t := &s.tokens[len(s.tokens)-1]
		t.keyword, t.typeName, t.decorator = parts[0].keyword, parts[0].typeName, parts[0].decorator
		at += size
	}
}

// nextToken returns the kind and the size of the token at an offset; 0 means white space.
func (s *Source) nextToken(at, end int) (kind, int) {
	text := s.text[at:end]
	c := text[0]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\\':
		return 0, 0
	case c == '(' || c == '[' || c == '{':
		return opening, 1
	case c == ')' || c == ']' || c == '}':
		return closing, 1
	case isDigit(c) || c == '.' && len(text) > 1 && isDigit(text[1]) && !s.afterValue(at):
		return number, numberSize(text)
	case c == '\'' && len(text) > 1 && isLetter(rune(text[1])):
		return word, 1 + s.wordSize(text[1:]) // a lifetime in Rust
	}
	if n := s.wordSize(text); n > 0 {
		return word, n
	}
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return operator, len(op)
		}
	}
	r, n := utf8.DecodeRuneInString(text)
	if unicode.IsSpace(r) || r == '\ufeff' {
		return 0, 0
	}
	return operator, n
}

// afterValue reports whether the character before an offset ends a value: then a dot
// selects something.
func (s *Source) afterValue(at int) bool {
	if at == 0 {
		return false
	}
	c := s.text[at-1]
	return c == ')' || c == ']' || c == '}' || c == '.' || isDigit(c) || isLetter(rune(c))
}

func (s *Source) wordSize(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !isLetter(r) && (n == 0 || !unicode.IsDigit(r)) && !s.wordRune(r, text, n) {
			break
		}
		n += size
	}
	return n
}

// wordRune reports whether a character that is not a letter is part of a name.
func (s *Source) wordRune(r rune, text string, n int) bool {
	next := byte(0)
	if n+1 < len(text) {
		next = text[n+1]
	}
	switch s.lang.name {
	case "Ruby", "Elixir", "Crystal":
		return (r == '?' || r == '!') && n > 0 && next != '=' && isLetter(rune(text[n-1])) || r == '@' && isLetter(rune(next))
	case "Clojure":
		return strings.ContainsRune("-?!*", r) && n > 0
	case "Shell":
		return strings.ContainsRune("-./:,@%+", r) && n > 0
	}
	return false
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }

// numberSize returns the size of the number that a text starts with, with its suffix.
func numberSize(text string) int {
	n := 0
	prefixed := len(text) > 1 && text[0] == '0' && strings.ContainsRune("xXbBoO", rune(text[1]))
	for n < len(text) {
		c := text[n]
		next := byte(0)
		if n+1 < len(text) {
			next = text[n+1]
		}
		switch {
		case isDigit(c) || c == '_' || c < utf8.RuneSelf && unicode.IsLetter(rune(c)):
		case c == '.' && !prefixed && isDigit(next) && !strings.Contains(text[:n], "."):
		case (c == '+' || c == '-') && !prefixed && n > 0 && (text[n-1] == 'e' || text[n-1] == 'E') && isDigit(next):
		default:
			return n
		}
		n++
	}
	return n
}

var pairs = map[string]string{")": "(", "]": "[", "}": "{"}

func (s *Source) matchBrackets() {
	s.match, s.parent = make([]int, len(s.tokens)), make([]int, len(s.tokens))
	var stack []int
	for i, t := range s.tokens {
		s.match[i], s.parent[i] = -1, -1
		if t.kind == closing {
			if n := opener(s.tokens, stack, pairs[t.text]); n >= 0 {
				s.match[i], s.match[stack[n]] = stack[n], i
				stack = stack[:n]
			}
		}
		if len(stack) > 0 {
			s.parent[i] = stack[len(stack)-1]
		}
		if t.kind == opening {
			stack = append(stack, i)
		}
	}
}

// opener returns the position in a stack of the bracket that a closing one belongs to,
// or -1. A parenthesis that was not opened, as in the cases of a shell script, closes
// nothing.
func opener(tokens []tok, stack []int, want string) int {
	for n := len(stack) - 1; n >= 0; n-- {
		have := tokens[stack[n]].text
		if have == want {
			return n
		}
		if have == "{" {
			return -1
		}
	}
	return -1
}
