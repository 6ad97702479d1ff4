package mutate

import "strings"

var negations = map[string]string{"==": "!=", "!=": "==", "===": "!==", "!==": "===", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}

var boundaries = map[string]string{"<": "<=", ">": ">=", "<=": "<", ">=": ">"}

var arithmetic = map[string]string{
	"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "//": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*=",
	"<<": ">>", ">>": "<<", "&": "|", "|": "&", "&=": "|=", "|=": "&=", "<<=": ">>=", ">>=": "<<=",
}

// operatorEdits returns the changes of an operator.
func (s *Source) operatorEdits(i int) []edit {
	t := s.tokens[i]
	var out []edit
	add := func(op, text string) { out = append(out, edit{op, t.start, t.end, text}) }
	binary := s.valueEnd(i-1) && s.valueStart(i+1)
	switch {
	case s.comparison(i) != "" && binary && s.spaced(i):
		add(opNegate, s.comparison(i))
		if b := boundaries[t.text]; b != "" {
			add(opBoundary, b)
		}
	case (t.text == "&&" || t.text == "||") && s.valueEndOrBrace(i-1) && (s.valueStart(i+1) || s.is(i+1, "{")) && s.spaced(i) && !s.lineHas(t.line, "let"):
		add(opLogic, map[string]string{"&&": "||", "||": "&&"}[t.text])
	case (t.text == "++" || t.text == "--") && !s.loopHeader(i) && s.lang.family == familyBrace:
		add(opIncrement, map[string]string{"++": "--", "--": "++"}[t.text])
	case arithmetic[t.text] != "" && binary && s.arithmeticAt(i):
		add(opArithmetic, arithmetic[t.text])
	case (t.text == "!" || t.text == "-") && s.unary(i):
		add(opUnary, "")
	}
	return out
}

// comparison returns the opposite of a comparison in this language, or "".
func (s *Source) comparison(i int) string {
	text := s.tokens[i].text
	if different := s.lang.notEqual; different != "" {
		equal := "=="
		if s.lang.has(singleEqual) {
			equal = "="
		}
		switch {
		case text == different:
			return equal
		case text == "==" && equal == "==":
			return different
		case text == "==" || text == "!=" || text == "=":
			return ""
		}
	}
	if s.lang.name == "Clojure" || s.lang.name == "Makefile" || s.lang.name == "CMake" {
		return ""
	}
	return negations[text]
}

// spaced reports whether an operator differs from the brackets of type arguments,
// references and the like: in some languages only the spaces around it show that.
func (s *Source) spaced(i int) bool {
	t := s.tokens[i]
	if !strings.ContainsAny(t.text[:1], "<>&|") || !s.lang.has(angleGenerics) && s.lang.family != familyExpression && t.text[0] != '&' {
		return true
	}
	if s.lang.name == "Go" {
		return true
	}
	return s.spaces(i) == 2
}

// spaces returns on how many sides of a token there is white space.
func (s *Source) spaces(i int) int {
	t, n := s.tokens[i], 0
	if t.start > 0 && strings.ContainsAny(s.text[t.start-1:t.start], " \t\n") {
		n++
	}
	if t.end < len(s.text) && strings.ContainsAny(s.text[t.end:t.end+1], " \t\r\n") {
		n++
	}
	return n
}

func (s *Source) valueEndOrBrace(i int) bool { return s.valueEnd(i) || s.is(i, "}") }

func (s *Source) lineHas(line int, text string) bool {
	from, to := s.tokensOn(line)
	return s.hasWord(from, to, text)
}

// loopHeader reports whether a token is in the header of a loop: changes there mostly
// lead to loops without end.
func (s *Source) loopHeader(i int) bool {
	if p := s.parent[i]; p > 0 && (s.is(p-1, "for") || s.is(p-1, "while") || s.is(p-1, "foreach")) {
		return true
	}
	from, _ := s.tokensOn(s.tokens[i].line)
	return s.is(from, "for") && s.parent[from] == s.parent[i]
}

// stringName matches names of values that are strings as a rule, which can be added and
// not subtracted.
var stringName = lazy(`(?i)(?:name|path|text|str|string|prefix|suffix|msg|message|url|uri|title|label|html|json|query|indent|word|content|output|separator)s?$|^(?:s|id|key|line|dir|sep|file|body|out|host|token|header)s?$`)

// arithmeticAt reports whether a binary operator calculates and its opposite compiles.
func (s *Source) arithmeticAt(i int) bool {
	t := s.tokens[i]
	if s.loopHeader(i) && s.lang.family == familyBrace && len(t.text) == 2 {
		return false
	}
	before, after := s.tokens[i-1], s.tokens[i+1]
	if timing.MatchString(s.lineText(t.line)) {
		return false
	}
	switch t.text {
	case "+", "+=":
		return !s.joinsStrings(i)
	case "*", "&", "|", "<<", ">>", "&=", "|=":
		if s.spaces(i) == 1 || before.typeName || before.keyword && before.text != "this" && before.text != "self" || s.typeIndex(i-1) || after.kind == operator {
			return false
		}
		if t.text == "*" {
			return (!s.lang.has(hashDirectives) || !s.declaration(i)) && after.text != "0"
		}
		return s.bitOperator(i)
	case "/", "//", "%":
		return before.kind != str && after.kind != str && (s.lang.name != "Perl" || s.spaces(i) == 2)
	case "-":
		return s.lang.family != familyExpression || s.spaces(i) == 2
	}
	return true
}

// bitOperator reports whether & or | and shifts work on numbers here: not on types,
// patterns, streams or collections.
func (s *Source) bitOperator(i int) bool {
	t, before, after := s.tokens[i], s.tokens[i-1], s.tokens[i+1]
	if !s.lang.has(bitOperators) || s.lang.has(angleGenerics) && s.spaces(i) != 2 || before.kind == str || after.kind == str {
		return false
	}
	if s.lang.name != "Go" && s.lang.name != "C" && (upperFirst(before.text) || upperFirst(after.text) || notValueTypes.has(before.text) || notValueTypes.has(after.text)) {
		return false
	}
	if (t.text == "<<" || t.text == ">>") && s.lang.name == "C++" {
		return before.kind == number || after.kind == number
	}
	return true
}

var notValueTypes = set("None int str float bool bytes list dict set tuple string number boolean null undefined any unknown never object void")

func upperFirst(text string) bool { return text[0] >= 'A' && text[0] <= 'Z' }

// typeIndex reports whether token i closes the brackets of a type, as in []T or map[K]T.
func (s *Source) typeIndex(i int) bool {
	m := s.match[i]
	return s.is(i, "]") && m >= 0 && (!s.valueEnd(m-1) || s.is(m-1, "map") || m == i-1)
}

// declaration reports whether "T * name" at the start of a statement declares a pointer.
func (s *Source) declaration(i int) bool {
	start := s.header(i)
	return i-start == 1 || i-start == 2 && (s.is(start, "const") || s.is(start, "struct") || s.is(start, "static")) || s.is(i+1, ")") || s.is(i+1, ",")
}

// joinsStrings reports whether the operands of a + are strings, as far as can be seen.
func (s *Source) joinsStrings(i int) bool {
	for _, step := range []int{-1, 1} {
		for j := i + step; j >= 0 && j < len(s.tokens) && j != s.parent[i] && s.tokens[j].line >= s.tokens[i].line-1 && s.tokens[j].line <= s.tokens[i].line+1; j += step {
			t := s.tokens[j]
			if s.match[j] >= 0 && (t.kind == closing && step < 0 || t.kind == opening && step > 0) {
				j = s.match[j]
				continue
			}
			if t.kind == str || t.kind == word && (t.text == "string" || t.text == "String" || t.text == "str") {
				return true
			}
			if t.kind == word && stringName.MatchString(t.text) && !s.is(j+1, "(") {
				return true
			}
			if t.kind == opening || t.kind == closing || t.text == "," || t.text == ";" || t.text == "=" || t.text == ":=" || t.kind == operator && negations[t.text] != "" || t.keyword && notOperands.has(t.text) {
				break
			}
		}
	}
	return false
}

// unary reports whether a ! or - stands before a single value and can be left out.
func (s *Source) unary(i int) bool {
	if i+1 >= len(s.tokens) || s.valueEnd(i-1) || s.tokens[i].end != s.tokens[i+1].start {
		return false
	}
	after := s.tokens[i+1]
	if after.kind == number {
		return s.tokens[i].text == "-" && strings.Trim(after.text, "0._") != "" && !s.besideError(i)
	}
	return (after.kind == word || after.text == "(" || after.text == "!") && s.lang.family != familyExpression
}

// wordEdits returns the changes of a name or keyword.
func (s *Source) wordEdits(i int) []edit {
	t := s.tokens[i]
	one := func(op, text string) []edit { return []edit{{op, t.start, t.end, text}} }
	if s.is(i-1, ".") || s.is(i+1, ":") && s.lang.name != "Python" || s.is(i-1, ":") && s.lang.name == "TypeScript" {
		return nil
	}
	if other := booleans[t.text]; other != "" && !s.besideError(i) && (t.text[0] != 'T' && t.text[0] != 'F' || s.lang.name != "Go") {
		return one(opBoolean, other)
	}
	switch t.text {
	case "and", "or":
		if s.lang.has(wordLogic) && s.valueEndOrBrace(i-1) {
			return one(opLogic, map[string]string{"and": "or", "or": "and"}[t.text])
		}
	case "not":
		if s.lang.has(wordLogic) && i+1 < len(s.tokens) && s.tokens[i+1].line == t.line {
			if s.is(i-1, "is") {
				return []edit{{opNegate, t.start, s.tokens[i+1].start, ""}}
			}
			return []edit{{opUnary, t.start, s.tokens[i+1].start, ""}}
		}
	case "is":
		if s.lang.name == "Python" && !s.is(i+1, "not") && s.valueEnd(i-1) {
			return one(opNegate, "is not")
		}
	case "in":
		if s.lang.name == "Python" && s.valueEnd(i-1) && !s.comprehension(i) {
			return one(opNegate, "not in")
		}
	case "break", "continue":
		if s.swapsLoop(i) {
			return one(opLoop, map[string]string{"break": "continue", "continue": "break"}[t.text])
		}
	}
	return nil
}

var booleans = map[string]string{"true": "false", "false": "true", "True": "False", "False": "True", "TRUE": "FALSE", "FALSE": "TRUE", "YES": "NO", "NO": "YES"}

// comprehension reports whether the "in" at a token belongs to a for.
func (s *Source) comprehension(i int) bool {
	for j := i - 1; j >= 0 && j > i-24; j-- {
		switch {
		case s.tokens[j].kind == closing && s.match[j] >= 0:
			j = s.match[j]
		case s.is(j, "for"):
			return true
		case s.tokens[j].kind == opening || s.is(j, "if") || s.is(j, "and") || s.is(j, "or") || s.is(j, "return") || s.is(j, "="):
			return false
		}
	}
	return false
}

// swapsLoop reports whether break and continue both are valid at a token.
func (s *Source) swapsLoop(i int) bool {
	t := s.tokens[i]
	if i+1 < len(s.tokens) && s.tokens[i+1].line == t.line && s.tokens[i+1].kind == word {
		return false // a label
	}
	switch s.lang.family {
	case familyIndent:
		return true
	case familyBrace:
		for p := s.parent[i]; p >= 0; p = s.parent[p] {
			switch s.blocks[p] {
			case blockFunction, blockType, blockCases:
				return false
			case blockCode:
				if h := s.header(p); s.is(h, "for") || s.is(h, "while") || s.is(h, "loop") || s.is(h, "do") || s.is(h, "foreach") {
					return true
				}
			}
		}
	}
	return false
}

// besideError reports whether a token is a result that is returned with an error: what
// it is does not matter then.
func (s *Source) besideError(i int) bool {
	start := i
	for start > 0 && !s.is(start, "return") && s.tokens[start].line == s.tokens[i].line {
		start--
	}
	if s.lang.name != "Go" || !s.is(start, "return") {
		return false
	}
	last, depth := -1, s.parent[start]
	for j := i; j < len(s.tokens) && s.tokens[j].line == s.tokens[i].line; j++ {
		if s.is(j, ",") && s.parent[j] == depth {
			last = j + 1
		}
	}
	return last > i && !s.is(last, "nil") && !s.is(last, "true") && !s.is(last, "false") && s.tokens[last].kind == word
}
