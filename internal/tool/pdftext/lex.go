package pdftext

import "strconv"

// The types of PDF values, besides nil, bool and float64.
type (
	name   string
	text   string // a string: bytes in some encoding
	word   string // an operator, or a keyword such as obj and endobj
	array  []any
	dict   map[name]any
	ref    int // the number of an object
	stream struct {
		dict
		raw []byte
	}
)

const (
	maxDepth = 50      // nesting of arrays and dictionaries
	maxItems = 200_000 // values of one object, on all levels
)

// lexer reads values. It skips what it cannot read: there is always a next
// value, until the end.
type lexer struct {
	data  []byte
	pos   int
	depth int
	items int
}

// mark is the end of an array, a dictionary or the data.
type mark byte

const end mark = 0

var spaces, delimiters = members("\x00\t\n\f\r "), members("()<>[]{}/%")

func members(s string) (set [256]bool) {
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}

func isSpace(c byte) bool { return spaces[c] }

func isDelimiter(c byte) bool { return delimiters[c] }

func (l *lexer) skipSpace() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// next returns a value, a word or a mark.
func (l *lexer) next() any {
	if l.depth == 0 {
		l.items = 0
	}
	for l.skipSpace(); l.pos < len(l.data); l.skipSpace() {
		c := l.data[l.pos]
		l.pos++
		switch {
		case c == '(':
			return l.literal()
		case c == '/':
			return l.name()
		case c == '<' && l.peek() == '<':
			l.pos++
			return l.dict()
		case c == '<':
			return l.hex()
		case c == '[':
			return l.array()
		case c == '>' && l.peek() == '>':
			l.pos++
			return mark('>')
		case c == ']':
			return mark(']')
		case !isDelimiter(c): // otherwise it is a stray delimiter
			l.pos--
			return l.regular()
		}
	}
	return end
}

func (l *lexer) peek() byte {
	if l.pos < len(l.data) {
		return l.data[l.pos]
	}
	return 0
}

// regular reads a number, a boolean, null or a word.
func (l *lexer) regular() any {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	s := string(l.data[start:l.pos])
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return n
		}
		return 0.0 // some producers write numbers like 0.-5
	}
	return word(s)
}

func (l *lexer) array() any {
	var out array
	for v := range l.values(']') {
		if w, ok := v.(word); ok && w == "R" {
			out = joinRef(out)
			continue
		}
		out = append(out, v)
	}
	return out
}

func (l *lexer) dict() any {
	var flat array
	for v := range l.values('>') {
		if w, ok := v.(word); ok && w == "R" {
			flat = joinRef(flat)
			continue
		}
		flat = append(flat, v)
	}
	out := make(dict, len(flat)/2)
	for i := 0; i+1 < len(flat); i++ {
		if key, ok := flat[i].(name); ok {
			out[key] = flat[i+1]
			i++
		}
	}
	return out
}

// joinRef replaces the two numbers before an R by a reference.
func joinRef(values array) array {
	n := len(values)
	if n < 2 {
		return values
	}
	num, ok := values[n-2].(float64)
	if !ok || num < 0 || num > 1<<30 {
		return values[:n-2]
	}
	return append(values[:n-2], ref(num))
}

// values yields the values before the closing mark. Beyond the limits it
// continues to read, to find the end, but yields nothing.
func (l *lexer) values(closing mark) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		l.depth++
		defer func() { l.depth-- }()
		if l.depth > maxDepth {
			l.pos = len(l.data)
			return
		}
		for {
			before := l.pos
			v := l.next()
			if v == any(closing) || v == any(end) {
				return
			}
			if _, stray := v.(mark); stray {
				continue
			}
			if v == any(word("endobj")) { // it was not closed
				l.pos = before
				return
			}
			if l.items++; l.items > maxItems {
				l.pos = len(l.data)
				return
			}
			if !yield(v) {
				return
			}
		}
	}
}

func (l *lexer) name() any {
	var out []byte
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		if isSpace(c) || isDelimiter(c) {
			break
		}
		l.pos++
		if c == '#' && l.pos+2 <= len(l.data) {
			if n, err := strconv.ParseUint(string(l.data[l.pos:l.pos+2]), 16, 8); err == nil {
				c = byte(n)
				l.pos += 2
			}
		}
		out = append(out, c)
	}
	return name(out)
}
