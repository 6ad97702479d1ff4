package mutate

import (
	"math/big"
	"regexp"
	"sort"
	"strings"
)

// Literals returns the string, number, boolean and nil literals in code.
func (s *Source) Literals() []Literal {
	var out []Literal
	for i := range s.tokens {
		if from, _ := s.tokensOn(s.tokens[i].line); s.lang.family != familyData && s.isImport(from) {
			continue
		}
		if l, ok := s.literal(i); ok {
			out = append(out, l)
		}
	}
	return out
}

var nils = set("nil None null undefined NULL nullptr Nothing")

// literal returns a token as a literal.
func (s *Source) literal(i int) (Literal, bool) {
	t := s.tokens[i]
	l := Literal{Line: t.line, Start: t.start, End: t.end, Text: t.text}
	switch {
	case t.kind == str || t.kind == char:
		l.Kind = kindString
	case t.kind == number:
		l.Kind = kindNumber
	case t.kind == word && booleans[t.text] != "" && !s.is(i-1, "."):
		l.Kind = kindBool
	case t.kind == word && nils.has(t.text) && !s.is(i-1, "."):
		l.Kind = kindNil
	default:
		return l, false
	}
	return l, true
}

// Replace returns the text with a literal changed to a different value of the same kind:
// 7 to 8, "a" to "a_changed", true to false. It returns nil if there is no such value,
// as for nil, or if the literal is not part of this source.
func (s *Source) Replace(l Literal) []byte {
	if l.Start < 0 || l.End > len(s.text) || l.Start >= l.End || s.text[l.Start:l.End] != l.Text {
		return nil
	}
	e, ok := s.replacement(l)
	if !ok {
		return nil
	}
	return s.splice(e.start, e.end, e.text)
}

// replacement returns the change of a literal to a different value.
func (s *Source) replacement(l Literal) (edit, bool) {
	switch l.Kind {
	case kindNumber:
		text, ok := changeNumber(l.Text)
		return edit{start: l.Start, end: l.End, text: text}, ok
	case kindBool:
		other := booleans[l.Text]
		return edit{start: l.Start, end: l.End, text: other}, other != ""
	case kindString:
		i := sort.Search(len(s.tokens), func(i int) bool { return s.tokens[i].start >= l.Start })
		if i < len(s.tokens) && s.tokens[i].start == l.Start && s.tokens[i].end == l.End && s.tokens[i].kind != word {
			return s.changeString(i)
		}
		if bareWord.MatchString(l.Text) { // a word of a shell script
			return edit{start: l.Start, end: l.End, text: l.Text + "_changed"}, true
		}
	}
	return edit{}, false
}

var (
	bareWord    = lazy(`^[\w./-]+$`)
	numberParts = lazy(`^(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|[0-9][0-9_]*)((?:\.[0-9_]+)?(?:[eE][+-]?[0-9_]+)?)([A-Za-z]\w*)?$`)
)

// maxima are numbers that a larger one could overflow.
var maxima = set("127 255 32767 65535 2147483647 4294967295 9223372036854775807 18446744073709551615")

// changeNumber returns another number that is written the same way.
func changeNumber(text string) (string, bool) {
	if strings.HasPrefix(text, ".") {
		return "1" + text, true
	}
	m := numberParts().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	digits, rest := strings.ReplaceAll(m[1], "_", ""), m[2]+m[3]
	base, prefix := 10, ""
	if len(digits) > 1 && digits[0] == '0' {
		switch digits[1] {
		case 'x', 'X':
			base, prefix = 16, digits[:2]
		case 'b', 'B':
			base, prefix = 2, digits[:2]
		case 'o', 'O':
			base, prefix = 8, digits[:2]
		default:
			if m[2] != "" {
				return "1" + text, true
			}
			base, prefix = 8, "0"
		}
		digits = digits[len(prefix):]
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "", false
	}
	step := int64(1)
	if maxima.has(n.String()) && m[2] == "" {
		step = -1
	}
	changed := n.Add(n, big.NewInt(step)).Text(base)
	if len(prefix) > 0 {
		for len(changed) < len(digits) {
			changed = "0" + changed
		}
	}
	return prefix + changed + rest, true
}

var quoted = lazy(`^(?s)([A-Za-z@$]{0,3}#*)("""|'''|["'` + "`" + `])`)

// changeString returns the change of a string or character to a different one.
func (s *Source) changeString(i int) (edit, bool) {
	t := s.tokens[i]
	m := quoted().FindStringSubmatch(t.text)
	if m == nil {
		return edit{}, false
	}
	quote := m[2]
	bodyStart := t.start + len(m[0])
	if t.kind == char || quote == "'" && s.lang.has(charLiterals) {
		return s.changeChar(bodyStart, t.end-1)
	}
	closed := len(t.text) >= len(m[0])+len(quote) && strings.HasSuffix(strings.TrimRight(t.text, "#"), quote)
	if !closed {
		if i+1 < len(s.tokens) && s.tokens[i+1].start == t.end && len(quote) == 1 { // an expression follows
			return edit{start: bodyStart, end: bodyStart, text: "changed_"}, true
		}
		return edit{}, false
	}
	at := t.start + len(strings.TrimRight(t.text, "#")) - len(quote)
	if at > bodyStart && s.characters(i) {
		return edit{start: bodyStart, end: at}, true
	}
	added := "_changed"
	if at == bodyStart {
		added = "changed"
	}
	if strings.Contains(m[1], "b") && s.lang.name == "Rust" && strings.HasSuffix(m[1], "#") {
		return edit{}, false
	}
	return edit{start: at, end: at, text: added}, true
}

var characterSet = lazy(`(?i)(?:trim|trimleft|trimright|strip|lstrip|rstrip|containsany|indexany|fieldsfunc)$`)

// characters reports whether a string is a set of characters, to which more characters
// can be added without a difference.
func (s *Source) characters(i int) bool {
	p := s.parent[i]
	return p > 0 && s.is(p, "(") && characterSet.MatchString(s.callee(p))
}

// changeChar changes the character between two offsets.
func (s *Source) changeChar(start, end int) (edit, bool) {
	if end <= start {
		return edit{}, false
	}
	switch text := s.text[start:end]; {
	case len(text) == 1 && (text[0] >= 'a' && text[0] < 'z' || text[0] >= 'A' && text[0] < 'Z' || text[0] >= '0' && text[0] < '9'):
		return edit{start: start, end: end, text: string(text[0] + 1)}, true
	case text == "x":
		return edit{start: start, end: end, text: "y"}, true
	case text[0] == '\\' || len([]rune(text)) == 1:
		return edit{start: start, end: end, text: "x"}, true
	}
	return edit{}, false
}

// innerText returns the change of a line that is part of a longer string, and whether
// the line is.
func (s *Source) innerText(line int) ([]edit, bool) {
	from, _ := s.tokensOn(line)
	if from == 0 {
		return nil, false
	}
	t := s.tokens[from-1]
	if t.kind != str || t.line >= line || s.endLine(t) <= line {
		return nil, false
	}
	at := s.lines[line-1] + len(s.indent(line))
	return []edit{{opString, at, at, "changed_"}}, true
}

// mutableNumber reports whether the change of a number can matter and compiles.
func (s *Source) mutableNumber(i int) bool {
	t := s.tokens[i]
	text := s.lineText(t.line)
	switch {
	case s.besideError(i) || s.message(i) || timing.MatchString(text) || s.is(i-1, "@"):
		return false
	case len(t.text) > 1 && t.text[0] == '0' && (isDigit(t.text[1]) || t.text[1] == 'o'): // a file mode
		return false
	case s.lang.family == familyShell:
		return s.shellNumber(i)
	case s.is(i-1, "-") && s.unary(i-1): // removing the sign says more
		return false
	case s.is(i-1, "[") && s.is(i+1, "]") && i+2 < len(s.tokens) && s.tokens[i+2].kind == word && s.tokens[i+2].start == s.tokens[i+1].end: // [3]int
		return false
	case s.is(i+1, ":") && s.lang.name == "Go" && (s.is(i-1, "{") || s.is(i-1, ",")): // a key
		return false
	case s.is(i-1, "case") || s.caseList(i):
		changed, ok := changeNumber(t.text)
		return ok && !regexp.MustCompile(`\b`+regexp.QuoteMeta(changed)+`\b`).MatchString(s.text)
	}
	return !s.capacity(i)
}

func (s *Source) caseList(i int) bool {
	from, _ := s.tokensOn(s.tokens[i].line)
	return s.is(from, "case") && s.parent[from] == s.parent[i] || s.lang.name == "Rust" && (s.is(i+1, "=>") || s.is(i+1, "|"))
}

// capacity reports whether a number only reserves memory.
func (s *Source) capacity(i int) bool {
	p := s.parent[i]
	if p < 1 || !s.is(p, "(") {
		return false
	}
	switch s.callee(p) {
	case "make":
		parts := s.split(p)
		return len(parts) == 3 && parts[2][0] == i || s.is(p+1, "map") || s.is(p+1, "chan")
	case "Vec::with_capacity", "String::with_capacity", "HashMap::with_capacity", "reserve":
		return true
	}
	return false
}

// mutableString reports whether the change of a string can matter and compiles.
func (s *Source) mutableString(i int) bool {
	t := s.tokens[i]
	switch {
	case s.message(i) || s.lang.family == familyIndent && s.docLike(i):
		return false
	case semver.MatchString(t.text) && versions.MatchString(s.lineText(t.line)):
		return false
	case s.endLine(t) != t.line || s.lang.family == familyShell && len(t.text) < 2:
		return false
	case s.directive(i):
		return false
	}
	return true
}

// docLike reports whether a string is a whole statement: documentation.
func (s *Source) docLike(i int) bool {
	from, to := s.tokensOn(s.tokens[i].line)
	return from == i && to == i+1 && s.parent[i] < 0
}

// directive reports whether a string is an instruction to the compiler, such as
// 'use strict', or the source of an import.
func (s *Source) directive(i int) bool {
	return strings.HasPrefix(strings.Trim(s.tokens[i].text, `'"`), "use ") || s.is(i-1, "from") || s.is(i-1, "import") ||
		s.is(i-1, "(") && (s.is(i-2, "require") || s.is(i-2, "import")) || s.is(i-1, "extern")
}

var definition = lazy(`^\s*#\s*define\s+\w+\s+(\d\w*|"[^"\\]*")\s*(?:/[/*].*)?$`)

// defineEdit changes the number or string that a macro of C stands for.
func (s *Source) defineEdit(line int) (edit, bool) {
	if !s.lang.has(hashDirectives) {
		return edit{}, false
	}
	m := definition().FindStringSubmatchIndex(s.lineText(line))
	if m == nil || s.classAt(s.lines[line-1]+m[2]) == classComment {
		return edit{}, false
	}
	start, end := s.lines[line-1]+m[2], s.lines[line-1]+m[3]
	if s.text[start] == '"' {
		return edit{opString, end - 1, end - 1, "_changed"}, true
	}
	text, ok := changeNumber(s.text[start:end])
	return edit{opNumber, start, end, text}, ok
}
