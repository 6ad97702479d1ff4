package mutate

import "strings"

// startsStatement reports whether a statement can be inserted before a token.
func (s *Source) startsStatement(i int) bool {
	if i >= len(s.tokens) {
		return false
	}
	switch s.lang.family {
	case familyIndent, familyEnd:
		return s.startsLine(i)
	case familyBrace:
	default:
		return false
	}
	t, p := s.tokens[i], s.parent[i]
	if p < 0 && !s.lang.has(topLevelCode) || t.kind == closing || t.text == "case" || t.text == "default" {
		return false
	}
	if p >= 0 && s.blocks[p] != blockCode && s.blocks[p] != blockFunction && (s.blocks[p] != blockCases || i-1 == p || !s.classicCases(p)) {
		return false
	}
	if i == 0 || i-1 == p {
		return true
	}
	before := s.tokens[i-1]
	switch {
	case notStarts.has(t.text) || t.text == "while" && s.doBlock(i-1):
		return false
	case before.text == ";":
		return p < 0 || s.tokens[p].text == "{"
	case before.text == "}" && s.match[i-1] >= 0 && s.blocks[s.match[i-1]] != blockNone:
		return t.kind == word || t.text == "*" || t.kind == operator && (t.text == "++" || t.text == "--" || t.text == "<-")
	case before.text == ":":
		from, _ := s.tokensOn(before.line)
		return p >= 0 && s.blocks[p] == blockCases && (s.is(from, "case") || s.is(from, "default"))
	}
	return s.newStatement(i) && (t.kind == word || s.lang.name == "Go") && !s.conditionEnds(i-1)
}

// classicCases reports whether the cases of a switch consist of statements after a colon.
func (s *Source) classicCases(p int) bool {
	for j := p + 1; j < s.match[p]; j++ {
		if s.parent[j] == p && s.is(j, "case") {
			for ; j < s.match[p] && !s.is(j, ":"); j++ {
				if s.is(j, "=>") || s.is(j, "->") {
					return false
				}
			}
			return true
		}
	}
	return false
}

// conditionEnds reports whether token i closes the parentheses of a condition whose
// statement follows without braces.
func (s *Source) conditionEnds(i int) bool {
	m := s.match[i]
	return s.is(i, ")") && m > 0 && controlWords.has(s.tokens[m-1].text) && (!s.is(m-1, "while") || !s.doBlock(m-2))
}

// doBlock reports whether token i closes the block of a do loop.
func (s *Source) doBlock(i int) bool {
	return s.is(i, "}") && s.match[i] > 0 && s.is(s.match[i]-1, "do")
}

// startsLine reports whether a token starts a statement in a language without braces.
func (s *Source) startsLine(i int) bool {
	t := s.tokens[i]
	if s.parent[i] >= 0 || t.kind != word && t.kind != str || blockParts.has(t.text) && (t.text != "case" || s.lang.family == familyIndent) {
		return false
	}
	if i == 0 {
		return true
	}
	before := s.tokens[i-1]
	if before.line == t.line || s.endLine(before) == t.line || s.continued(before.end, t.start) {
		return false
	}
	from, _ := s.tokensOn(before.line)
	if s.is(from, "@") || s.tokens[from].decorator { // a decorator
		return false
	}
	if before.text == ":" && s.lang.family == familyIndent {
		return !s.is(from, "match")
	}
	if s.lang.family == familyEnd && (s.is(from, "case") || before.kind == operator && before.text != "|" || before.text == "," || strings.HasPrefix(t.text, ".")) {
		return false
	}
	return before.kind != operator || s.lang.family == familyEnd
}

var blockParts = set("else elif elsif elseif except finally case when in rescue ensure then end until ) catch after")

// statementOn reports whether a line consists of exactly one statement.
func (s *Source) statementOn(from, to int) bool {
	if from == to || !s.startsStatement(from) {
		return false
	}
	depth := s.parent[from]
	for i := from; i < to; i++ {
		if s.tokens[i].kind == opening && (s.match[i] < 0 || s.match[i] >= to) {
			return false
		}
		if s.is(i, ";") && i != to-1 {
			return false
		}
	}
	if s.parent[to-1] != depth || s.endLine(s.tokens[to-1]) != s.tokens[from].line {
		return false
	}
	if s.is(to-1, ";") || to == len(s.tokens) || s.tokens[to].kind == closing {
		return s.lang.has(newlineEnds) || s.is(to-1, ";")
	}
	return s.lang.has(newlineEnds) && (s.newStatement(to) || s.lang.family == familyIndent && s.startsLine(to) || s.lang.family != familyBrace && blockParts.has(s.tokens[to].text)) &&
		!s.continued(s.tokens[to-1].end, s.tokens[to].start)
}

// declaring are words that start a declaration and are names in other languages.
var declaring = set("my our local state let var val const auto final")

var assignments = set("= += -= *= /= %= |= &= ^= <<= >>= **= //= ||= &&= ??= &^=")

// deleteEdit disables a statement that calls or assigns. Where the compiler checks that
// names are used, the statement stays, behind a condition that is never met.
func (s *Source) deleteEdit(_, from, to int) (edit, bool) {
	if !s.statementOn(from, to) || s.tokens[from].kind != word || declaring.has(s.tokens[from].text) || notOperands.has(s.tokens[from].text) || controlWords.has(s.tokens[from].text) {
		return edit{}, false
	}
	end := to
	if s.is(to-1, ";") {
		end--
	}
	if end <= from || !s.isCall(from, end) && !s.isAssignment(from, end) {
		return edit{}, false
	}
	start, stop := s.tokens[from].start, s.tokens[to-1].end
	text := s.text[start:stop]
	e := edit{operator: opDelete, start: start, end: stop}
	switch {
	case s.lang.name == "Python":
		e.text = "pass"
	case s.lang.name == "Ruby":
		e.text = "nil"
	case s.lang.name == "Lua":
		e.text = "do end"
	case s.lang.name == "Go" || s.lang.name == "Rust" || s.lang.name == "Swift":
		e.text = "if false { " + text + " }"
	case s.lang.family == familyBrace && s.lang.isFalse != "":
		e.text = "if (" + s.lang.isFalse + ") { " + text + " }"
	default:
		return edit{}, false
	}
	return e, true
}

// isCall reports whether the tokens are a call with an effect that tests can see.
func (s *Source) isCall(from, end int) bool {
	if !s.is(end-1, ")") || s.match[end-1] <= from {
		return false
	}
	for i := from; i < end; i++ {
		t := s.tokens[i]
		switch {
		case t.kind == opening && t.text != "{" && s.match[i] > i:
			i = s.match[i]
		case t.kind == word && i > from && s.tokens[i-1].kind == word:
			return false
		case t.kind != word && t.text != "." && t.text != "::" && t.text != "->" && t.text != "?." && t.text != "!":
			return false
		}
	}
	name := s.callee(s.match[end-1])
	return name != "" && !harmless.MatchString(strings.TrimSuffix(name, "!")) && !terminating.has(name) && !errorCall.MatchString(name) && !s.logs(name) &&
		!s.is(from, "super") && !s.is(from, "this") || strings.HasPrefix(name, "this.")
}

// terminating are calls after which a function needs no return.
var terminating = set("panic os.Exit log.Fatal log.Fatalf log.Fatalln std::process::exit unreachable! panic! todo! unimplemented! sys.exit exit abort super this process.exit fatalError")

// isAssignment reports whether the tokens assign to something that exists without them.
func (s *Source) isAssignment(from, end int) bool {
	at := -1
	for i := from; i < end; i++ {
		t := s.tokens[i]
		switch {
		case t.kind == opening && s.match[i] > i:
			i = s.match[i]
		case t.kind == operator && assignments.has(t.text):
			at = i
		case t.text == "," && s.lang.name != "Go" && s.lang.name != "Python" || t.text == ":" || t.text == ":=":
			return false
		case t.kind == word && i > from && s.tokens[i-1].kind == word || t.typeName:
			return false // a declaration
		case t.kind == operator && t.text != "." && t.text != "->" && t.text != "::" && t.text != "," && t.text != "@" && t.text != "?.":
			return false
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 || s.is(from, "_") {
		return false
	}
	if at == from+1 && s.tokens[at].text == "=" && !strings.HasPrefix(s.tokens[from].text, "@") && (s.lang.has(definiteAssign) || s.lang.family != familyBrace || s.parent[from] < 0) {
		return false // the only value of a variable
	}
	return true
}
