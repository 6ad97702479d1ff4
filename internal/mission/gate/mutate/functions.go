package mutate

import "strings"

// function is a function with a body in braces.
type function struct {
	name        string // "" if it has none
	start       int    // first token of its header
	open, close int    // the braces
	params      int    // the opening parenthesis of its parameters, or -1
}

// findFunctions lists the functions, outer ones first.
func (s *Source) findFunctions() {
	for i, b := range s.blocks {
		if b != blockFunction || s.match[i] < 0 {
			continue
		}
		f := function{start: s.header(i), open: i, close: s.match[i], params: -1}
		if s.lang.name == "Go" {
			f.start = s.goFunc(i)
			f.params = s.goParams(f.start)
		} else {
			f.params = s.parameters(f.start, i)
		}
		if s.lang.name == "Go" && s.is(f.params-1, "]") && s.tokens[f.start+1].kind == word {
			f.name = s.tokens[f.start+1].text
		}
		if s.is(i-1, "=>") {
			f.name, f.params = s.arrowName(f.start, i), s.match[i-2]
		}
		if n := s.nameBefore(f.params); n >= 0 && f.name == "" && !s.functionKeyword(n) && !s.trailingBlock(f.start, n) {
			f.name = s.tokens[n].text
		}
		s.functions = append(s.functions, f)
	}
}

// functionKeyword reports whether a token introduces a function without a name.
func (s *Source) functionKeyword(i int) bool {
	return funcWords.has(s.tokens[i].text) && (s.tokens[i].keyword || s.tokens[i].text == "function")
}

// trailingBlock reports whether a block belongs to a call: its header has no keyword of a
// function before the name.
func (s *Source) trailingBlock(start, name int) bool {
	return s.lang.has(trailingBlocks) && !s.hasWord(start, name+1, "fun") && !s.hasWord(start, name+1, "func") && !s.hasWord(start, name+1, "def") && !s.hasWord(start, name+1, "init")
}

// arrowName returns the name of the constant that an arrow function is assigned to.
func (s *Source) arrowName(start, open int) string {
	for j := start; j < open; j++ {
		if s.is(j, "=") && j > start && s.tokens[j-1].kind == word && (s.is(j+1, "(") || s.is(j+1, "async") || s.is(j+2, "=>")) {
			return s.tokens[j-1].text
		}
	}
	return ""
}

// functionAt returns the innermost function around a token, or nil.
func (s *Source) functionAt(i int) *function {
	var found *function
	for n := range s.functions {
		if f := &s.functions[n]; f.open < i && i < f.close {
			found = f
		}
	}
	return found
}

// goParams returns the opening parenthesis of the parameters of a Go function.
func (s *Source) goParams(fn int) int {
	j := fn + 1
	if s.is(j, "(") && j+1 < len(s.tokens) && s.match[j] > 0 && s.match[j]+1 < len(s.tokens) &&
		s.tokens[s.match[j]+1].kind == word && s.is(s.match[j]+2, "(") { // a receiver and a name
		j = s.match[j] + 1
	}
	if j < len(s.tokens) && s.tokens[j].kind == word {
		j++
	}
	if s.is(j, "[") && s.match[j] > 0 { // type parameters
		j = s.match[j] + 1
	}
	if s.is(j, "(") && s.match[j] > 0 {
		return j
	}
	return -1
}

// goSignature holds the results of a Go function.
type goSignature struct {
	named bool
	types []string
}

// goResults returns the results of the function whose header starts at the token func
// and ends before the brace at open, or nil if it cannot be read.
func (s *Source) goResults(fn, open int) *goSignature {
	params := s.goParams(fn)
	if params < 0 || s.match[params] >= open {
		return nil
	}
	from := s.match[params] + 1
	if from == open {
		return &goSignature{}
	}
	if !s.is(from, "(") {
		return &goSignature{types: []string{s.text[s.tokens[from].start:s.tokens[open-1].end]}}
	}
	if s.match[from] != open-1 {
		return nil
	}
	sig := &goSignature{}
	for _, part := range s.split(from) {
		text := s.text[s.tokens[part[0]].start:s.tokens[part[1]-1].end]
		if part[1]-part[0] > 1 && s.tokens[part[0]].kind == word && !goTypeWords.has(s.tokens[part[0]].text) && !s.is(part[0]+1, ".") && !s.is(part[0]+1, "[") ||
			part[1]-part[0] > 1 && s.is(part[0]+1, "[") && s.match[part[0]+1] < part[1]-1 && !goTypeWords.has(s.tokens[part[0]].text) {
			sig.named = true
		}
		sig.types = append(sig.types, text)
	}
	if sig.named {
		sig.dropNames()
	}
	return sig
}

// dropNames removes the names from results such as "a, b int".
func (sig *goSignature) dropNames() {
	last := ""
	for i := len(sig.types) - 1; i >= 0; i-- {
		if _, t, ok := strings.Cut(sig.types[i], " "); ok {
			last = strings.TrimSpace(t)
		}
		sig.types[i] = last
	}
}

var goTypeWords = set("map chan func struct interface")

// split returns the ranges of tokens between the commas inside a bracket.
func (s *Source) split(open int) [][2]int {
	var parts [][2]int
	from := open + 1
	if s.match[open] < 0 {
		return nil
	}
	for j := from; j <= s.match[open]; j++ {
		switch {
		case j == s.match[open] || s.is(j, ","):
			if j > from {
				parts = append(parts, [2]int{from, j})
			}
			from = j + 1
		case s.tokens[j].kind == opening && s.match[j] > j:
			j = s.match[j]
		}
	}
	return parts
}

// goZero returns an expression for the zero value of a type.
func goZero(t string) string {
	switch {
	case goNumeric.has(t):
		return "0"
	case t == "string":
		return `""`
	case t == "bool":
		return "false"
	case t == "error" || t == "any" || strings.HasPrefix(t, "*") || strings.HasPrefix(t, "[]") || strings.HasPrefix(t, "map[") ||
		strings.HasPrefix(t, "func(") || strings.HasPrefix(t, "chan ") || strings.HasPrefix(t, "<-chan ") || strings.HasPrefix(t, "interface{"):
		return "nil"
	}
	return "*new(" + t + ")"
}

var goNumeric = set("int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 complex64 complex128")

// zeros returns the zero values of the results, separated by commas.
func (sig *goSignature) zeros() string {
	values := make([]string, len(sig.types))
	for i, t := range sig.types {
		values[i] = goZero(t)
	}
	return strings.Join(values, ", ")
}
