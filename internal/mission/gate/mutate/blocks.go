package mutate

import "strings"

// block is what a pair of braces encloses.
type block byte

const (
	blockNone     block = iota // no brace, or a literal of a composite type
	blockCode                  // statements
	blockFunction              // statements: the body of a function
	blockType                  // declarations
	blockCases                 // cases of a switch
)

var (
	typeWords    = set("class interface enum struct trait impl union namespace record object protocol extension module mod extern extends implements contract library")
	caseWords    = set("switch select match when")
	funcWords    = set("func fn fun function def sub init deinit constructor get set proc")
	controlWords = set("if else for while do try catch finally loop unsafe with using lock synchronized guard defer foreach unless until repeat elsif except errdefer comptime go")
	blockWords   = set("async move static const") // these start a block only right before the brace
	// notOperands are words that a value does not end with.
	notOperands = set(`return case if elif elsif else while and or not in is typeof instanceof new delete throw raise yield await when unless until do then
		print echo goto default lambda assert match range import package func const var let type struct interface map chan go defer switch select for foreach
		fn mut ref dyn impl where as of try catch finally try! static public private protected void def end begin extern unsafe pub use mod async`)
)

// alwaysReserved are the words among notOperands that no language uses as a name.
var alwaysReserved = set("return case if else while for switch throw")

// valueEnd reports whether a value can end with a token.
func (s *Source) valueEnd(i int) bool {
	if i < 0 || i >= len(s.tokens) {
		return false
	}
	t := s.tokens[i]
	switch t.kind {
	case word:
		return !notOperands.has(t.text) || !t.keyword && !t.typeName && !alwaysReserved.has(t.text)
	case number, str, char, regex:
		return true
	case closing:
		return t.text != "}"
	}
	return false
}

// valueStart reports whether a value can start with a token.
func (s *Source) valueStart(i int) bool {
	if i < 0 || i >= len(s.tokens) {
		return false
	}
	t := s.tokens[i]
	switch t.kind {
	case word, number, str, char, regex:
		return true
	case opening:
		return t.text != "{"
	case operator:
		return t.text == "-" || t.text == "!" || t.text == "*" || t.text == "&" || t.text == "~" || t.text == "$" || t.text == "@"
	}
	return false
}

func (s *Source) is(i int, text string) bool {
	return i >= 0 && i < len(s.tokens) && s.tokens[i].text == text && s.tokens[i].kind != str
}

// newStatement reports whether a token starts a statement because the line before it
// ended one. It is exact for Go and an approximation for other languages.
func (s *Source) newStatement(i int) bool {
	if i == 0 {
		return true
	}
	t, before := s.tokens[i], s.tokens[i-1]
	if !s.lang.has(newlineEnds) || t.line == s.endLine(before) || s.continued(before.end, t.start) {
		return false
	}
	ended := s.valueEnd(i-1) || before.text == "}" || before.text == "++" || before.text == "--" ||
		before.text == "return" || before.text == "end"
	if s.lang.name == "Go" {
		return ended
	}
	return ended && (t.kind == word && !notStarts.has(t.text) || t.text == "}" || t.text == "@")
}

// notStarts are words that continue a statement.
var notStarts = set("else catch finally and or not in is instanceof as extends implements where elif elsif except rescue ensure then of unless")

// continued reports whether a backslash joins the lines between two offsets.
func (s *Source) continued(from, to int) bool {
	gap := s.text[from:to]
	return strings.Contains(gap, "\\\n") || strings.Contains(gap, "\\\r\n")
}

// endLine returns the line that a token ends on.
func (s *Source) endLine(t tok) int {
	if t.kind != str && t.kind != regex {
		return t.line
	}
	return s.lineOf(t.end - 1)
}

// header returns the first token of the statement that contains token i at its own
// depth: what stands before a brace says what the brace encloses.
func (s *Source) header(i int) int {
	start := i
	for j := i - 1; j >= 0 && j != s.parent[i]; j-- {
		t := s.tokens[j]
		switch {
		case t.text == ";" && s.lang.name != "Go" || t.text == "," && !s.listHeader(i): // in Go a line break ends the statement
			return start
		case t.text == "}" && s.match[j] >= 0 && s.blocks[s.match[j]] != blockNone && s.match[j] != j-1:
			return start
		case t.kind == closing && s.match[j] >= 0:
			j = s.match[j]
		case t.kind == opening && s.match[j] < 0:
			return start
		}
		start = j
		if s.newStatement(j) {
			return start
		}
	}
	return start
}

// listHeader reports whether the statement around token i can contain commas at its own
// depth: not in a list of arguments or in a literal.
func (s *Source) listHeader(i int) bool {
	p := s.parent[i]
	return p < 0 || s.tokens[p].text == "{" && s.blocks[p] != blockNone && s.blocks[p] != blockCases
}

// findBlocks classifies the braces, outer ones first.
func (s *Source) findBlocks() {
	s.blocks = make([]block, len(s.tokens))
	if s.lang.family != familyBrace && s.lang.family != familyShell {
		return
	}
	for i, t := range s.tokens {
		if t.kind == opening && t.text == "{" {
			s.blocks[i] = s.classify(i)
		}
	}
}

// classify returns what an opening brace encloses, by the words before it.
func (s *Source) classify(i int) block {
	if s.lang.family == familyShell {
		return s.classifyShell(i)
	}
	start := s.header(i)
	if start == i { // nothing stands before it
		if s.parent[i] >= 0 && s.blocks[s.parent[i]] == blockNone {
			return blockNone
		}
		return blockCode
	}
	top, assigned := s.topWords(start, i)
	before := s.tokens[i-1]
	last := func(group words) int {
		for n := len(top) - 1; n >= 0; n-- {
			if group.has(top[n]) {
				return n
			}
		}
		return -1
	}
	switch {
	case before.text == "=>" || before.text == "->":
		return blockFunction
	case s.lang.name == "Go":
		return s.classifyGo(i, top)
	case last(typeWords) >= 0 && (before.text != ")" || s.lang.name != "C" && s.lang.name != "C++") && last(funcWords) < 0 && (!assigned || typeWords.has(firstWord(top))):
		return blockType
	case last(funcWords) >= 0 && before.text != "=" && before.text != ":":
		return blockFunction
	case last(caseWords) >= 0 && last(caseWords) > last(controlWords):
		return blockCases
	case controlWords.has(words0(top)) || controlWords.has(before.text) || blockWords.has(before.text) || last(controlWords) >= 0 && before.text == ")" && !s.callBefore(i-1):
		return blockCode
	case s.hasWord(start, i, "new") && (s.lang.name == "Java" || s.lang.name == "Kotlin"):
		return blockType
	case last(controlWords) >= 0 && s.lang.name == "Rust":
		return blockCode
	}
	return s.classifyRest(start, i, assigned)
}

// classifyRest decides without the help of keywords.
func (s *Source) classifyRest(start, i int, assigned bool) block {
	before := s.tokens[i-1]
	switch {
	case s.lang.has(trailingBlocks) && (before.kind == word || before.text == ")") && !notOperands.has(before.text):
		return blockFunction
	case before.kind == operator && before.text != ">" && before.text != "*" || before.kind == opening || before.text == "return" || s.hasWord(start, i, "new"):
		return blockNone
	case !assigned && s.parameters(start, i) >= 0 && s.lang.name != "Rust":
		return blockFunction
	}
	return blockNone
}

// words0 returns the first word, or "".
func words0(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// firstWord returns the first word that is not a modifier, or "".
func firstWord(list []string) string {
	for _, w := range list {
		if !modifiers.has(w) || w == "class" {
			return w
		}
	}
	return ""
}

func (s *Source) hasWord(start, end int, text string) bool {
	for i := start; i < end; i++ {
		if s.is(i, text) {
			return true
		}
	}
	return false
}

// callBefore reports whether the parenthesis that token i closes is that of a call, not
// that of a condition.
func (s *Source) callBefore(i int) bool {
	m := s.match[i]
	return m > 0 && s.tokens[m-1].kind == word && !controlWords.has(s.tokens[m-1].text)
}

// topWords returns the words of a header outside of brackets, and whether it assigns.
func (s *Source) topWords(start, end int) (list []string, assigned bool) {
	for j := start; j < end; j++ {
		t := s.tokens[j]
		switch {
		case t.kind == opening && s.match[j] > j && s.match[j] < end:
			j = s.match[j]
		case t.kind == word && !s.is(j-1, ".") && !s.is(j-1, "->") && !s.is(j-1, "::") && !s.is(j-1, "?."):
			list = append(list, t.text)
		case t.text == "=" || t.text == ":=":
			assigned = true
		}
	}
	return list, assigned
}

func (s *Source) classifyGo(i int, top []string) block {
	first := words0(top)
	before := s.tokens[i-1].text
	switch {
	case before == "struct" || before == "interface":
		return blockType
	case first == "switch" || first == "select":
		return blockCases
	case s.goFunc(i) >= 0:
		return blockFunction
	case first == "if" || first == "for" || first == "else" || before == "else":
		return blockCode
	}
	return blockNone
}

// goFunc returns the token func of the function whose body starts at token i, or -1.
func (s *Source) goFunc(i int) int {
	for j, n := i-1, 0; j >= 0 && j != s.parent[i] && n < 64; j, n = j-1, n+1 {
		t := s.tokens[j]
		switch {
		case t.kind == closing && s.match[j] >= 0:
			j = s.match[j]
		case t.text == "func" && t.kind == word:
			if s.goResults(j, i) == nil {
				return -1
			}
			return j
		case t.kind != word && t.text != "." && t.text != "*" && t.text != "<-" && t.text != "...":
			return -1
		case t.text == "if" || t.text == "for" || t.text == "switch" || t.text == "return" || t.text == "else":
			return -1
		}
	}
	return -1
}

// parameters returns the opening parenthesis of the parameters in the header of a
// function in the style of C, or -1.
func (s *Source) parameters(start, end int) int {
	for j := start; j < end; j++ {
		t := s.tokens[j]
		if t.kind != opening || s.match[j] <= j || s.match[j] >= end {
			continue
		}
		if n := s.nameBefore(j); t.text == "(" && n >= start && !controlWords.has(s.tokens[n].text) && (!notOperands.has(s.tokens[n].text) || s.valueEnd(n)) {
			return j
		}
		j = s.match[j]
	}
	return -1
}

// nameBefore returns the name before the parenthesis at a token, also if type parameters
// stand between them, or -1.
func (s *Source) nameBefore(open int) int {
	j := open - 1
	if j >= 0 && s.lang.has(angleGenerics) && strings.Trim(s.tokens[j].text, ">") == "" && s.tokens[j].kind == operator {
		depth := len(s.tokens[j].text)
		for j--; j >= 0 && j > open-40 && depth > 0; j-- {
			switch t := s.tokens[j]; {
			case t.kind == operator && strings.Trim(t.text, ">") == "":
				depth += len(t.text)
			case t.kind == operator && strings.Trim(t.text, "<") == "":
				depth -= len(t.text)
			}
		}
	}
	if j >= 0 && s.tokens[j].kind == word {
		return j
	}
	return -1
}

func (s *Source) classifyShell(i int) block {
	if from, _ := s.tokensOn(s.tokens[i].line); s.is(from, "@") && s.is(from+1, "test") || s.is(from, "@test") {
		return blockFunction
	}
	if i > 0 && s.is(i-1, ")") || i > 1 && s.is(i-2, "function") {
		return blockFunction
	}
	if i == 0 || s.tokens[i-1].line < s.tokens[i].line || s.is(i-1, ";") || s.is(i-1, "&&") || s.is(i-1, "||") {
		return blockCode
	}
	return blockNone
}
