package mutate

import (
	"cmp"
	"slices"
	"strings"
)

// How likely a changed literal makes a test fail, by where it stands.
const (
	scoreExpected  = 100 // the expected value itself
	scoreCompared  = 90  // an operand of == in an assertion
	scoreChecked   = 85  // an operand of != in the condition of a failure
	scoreTable     = 80  // the expected value of a row
	scoreNamed     = 70  // assigned to a name such as want
	scoreArgument  = 50  // input of the code under test
	scoreOrdered   = 30  // an operand of < and the like
	scoreTableCell = 25  // input of a row
)

var (
	// binaryAssertion matches the names of assertions that compare two values.
	binaryAssertion = lazy(`(?i)^(?:assert|expect|check|require|is|should|must|deep|strict|loose|verify|xct)?_?\w*(?:equals?|eql?|same|contains?|matches|match|deeply|identical|is|that|eqv|regexp?|startswith|endswith|include|includes|len|in|sametype|almostequal|count|length)(?:_\w+)?$|^(?:is|like|is_deeply|cmp_ok|eq_|are|equal)$`)
	assertionName   = lazy(`^(?:assert\w*|ASSERT\w*|Assert\w*|expect\w*|EXPECT\w*|check\w*|CHECK\w*|require\w*|REQUIRE\w*|XCTAssert\w*|should\w*|Should\w*|verify\w*|refute\w*|ok|is|is_deeply|like|cmp_ok|ck_assert\w*|TEST_ASSERT\w*|BOOST_\w+|munit_assert\w*|expectTypeOf)$`)
	// matcher matches methods of fluent assertions, whose arguments are expected values.
	matcher  = lazy(`^(?:to(?:Be|Equal|StrictEqual|Match|Contain|Have|Throw|Include|Return)\w*|to_\w+|eq|eql|equal|equals|be|eqls|Be|BeEquivalentTo|Equal|EqualTo|isEqualTo|isSameAs|contains\w*|hasSize|hasMessage\w*|startsWith|endsWith|must_equal|must_\w+|isIn|Contain|HaveCount|deepEqual|strictEqual|deepStrictEqual|match|include|closeTo|lengthOf|length|property|shouldBe|shouldEqual)$`)
	negative = lazy(`(?i)(?:^|_|[a-z])not(?:_|[A-Z]|$)|NotEqual|notEqual|not_equal|_ne!?$|^refute|False$|_false$|isFalse|NE$|Throws?|raises|Raises|throws|panics|unlike|isnt`)
	wanted   = lazy(`(?i)^(?:want|wants|wanted|expected|expect|exp|golden)(?:$|[A-Z_]\w*|ed\w*)`)
	failCall = lazy(`^(?:t|b|f|tb|s|c)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$`)
)

// Expectations returns the literals that tests compare with, those first whose change
// most likely makes a test fail: in assertions of common frameworks, in conditions that
// report a failure, and in the rows of tables. Texts that explain a failure are left out.
func (s *Source) Expectations() []Literal {
	scores := map[int]int{}
	add := func(i, score int) {
		l, ok := s.literal(i)
		if !ok || score <= scores[i] {
			return
		}
		if _, ok := s.replacement(l); ok {
			scores[i] = score
		}
	}
	for i := range s.tokens {
		s.expectAt(i, add)
	}
	if s.lang.family == familyShell {
		return s.shellExpectations()
	}
	tokens := make([]int, 0, len(scores))
	for i := range scores {
		tokens = append(tokens, i)
	}
	slices.SortFunc(tokens, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	out := make([]Literal, 0, len(tokens))
	for _, i := range tokens {
		l, _ := s.literal(i)
		out = append(out, l)
	}
	return out
}

// expectAt adds the literals of the assertion that starts at a token, if one does.
func (s *Source) expectAt(i int, add func(i, score int)) {
	t := s.tokens[i]
	if from, _ := s.tokensOn(t.line); t.kind != word || s.isImport(from) {
		return
	}
	open := i + 1
	if s.is(open, "!") && s.lang.name == "Rust" {
		open++
	}
	call := s.is(open, "(") && s.tokens[open].start == s.tokens[open-1].end && s.match[open] >= 0
	switch {
	case call && t.text == "require" || call && s.chained(open):
	case call && (assertionName.MatchString(t.text) || s.assertModule(i)):
		s.assertion(i, open, add)
	case call && matcher.MatchString(t.text) && s.fluent(i):
		s.matcherArguments(i, open, add)
	case call && (t.text == "parametrize" || t.text == "each"):
		s.rows(open, add)
	case !call && (t.text == "assert" || t.text == "refute") && !s.is(i+1, ".") && !s.is(i+1, "::"):
		s.assertStatement(i, add)
	case !call && s.lang.name == "Ruby" && assertionName.MatchString(t.text) && s.startsLine(i):
		s.commandAssertion(i, add)
	case !call && matcher.MatchString(t.text) && i+1 < len(s.tokens) && s.tokens[i+1].line == t.line && (s.lang.name == "Ruby" || s.lang.name == "Haskell" || s.lang.name == "Scala" || s.lang.name == "Kotlin"):
		if !s.negated(i) {
			add(i+1, scoreExpected)
		}
	case t.text == "if" && s.lang.name == "Go":
		s.failingCondition(i, add)
	case wanted.MatchString(t.text) && (s.is(i+1, "=") || s.is(i+1, ":=") || s.is(i+1, ":")):
		s.wantedValue(i, add)
	case t.text == "struct" && s.lang.name == "Go":
		s.goTable(i, add)
	}
}

// chained reports whether a negated matcher follows the call with the parenthesis at open.
func (s *Source) chained(open int) bool {
	end := s.match[open]
	return s.is(end+1, ".") && (s.is(end+2, "not") || s.is(end+2, "not_to") || s.is(end+2, "to_not"))
}

// assertModule reports whether a token is a method of a module of assertions, as in
// assert.equal or Assert.That.
func (s *Source) assertModule(i int) bool {
	if !s.is(i-1, ".") && !s.is(i-1, "::") || i < 2 {
		return false
	}
	name := s.tokens[i-2].text
	return name == "assert" || name == "Assert" || name == "require" || name == "qt" || name == "is" && s.lang.name == "Go" || name == "t" && s.lang.name != "Go" && matcher.MatchString(s.tokens[i].text)
}

// fluent reports whether a matcher is applied to the result of an expectation.
func (s *Source) fluent(i int) bool {
	if s.lang.name == "Ruby" || s.lang.name == "Haskell" || s.lang.name == "Scala" {
		return s.lineHas(s.tokens[i].line, "expect") || s.lineHas(s.tokens[i].line, "should") || s.lineHas(s.tokens[i].line, "to") || s.is(i-1, ".")
	}
	if !s.is(i-1, ".") {
		return false
	}
	start := s.header(i)
	for j := start; j < i; j++ {
		if t := s.tokens[j]; t.kind == word && (strings.HasPrefix(t.text, "expect") || strings.HasPrefix(t.text, "assert") || strings.HasPrefix(t.text, "Assert") ||
			t.text == "Should" || t.text == "should" || t.text == "verify" || t.text == "Is" || t.text == "Has") {
			return true
		}
	}
	return false
}

// negated reports whether "not" stands before a token in the same statement.
func (s *Source) negated(i int) bool {
	for j := i - 1; j >= 0 && j >= s.header(i) && j > i-40; j-- {
		if s.is(j, "not") || s.is(j, "not_to") || s.is(j, "to_not") || s.is(j, "never") || s.is(j, "should_not") || s.is(j, "isNot") || s.is(j, "Not") {
			return true
		}
	}
	return negative.MatchString(s.tokens[i].text)
}

func (s *Source) matcherArguments(i, open int, add func(i, score int)) {
	if s.negated(i) {
		return
	}
	for j := open + 1; j < s.match[open]; j++ {
		add(j, s.depthScore(j, open, scoreExpected))
	}
	for j := s.header(i); j < i; j++ { // the actual value
		add(j, scoreArgument)
	}
}

// depthScore returns the score of a literal in a call: less if it is an argument of
// something inside of it.
func (s *Source) depthScore(j, open, score int) int {
	for p := s.parent[j]; p >= 0 && p != open; p = s.parent[p] {
		if s.is(p, "(") && s.valueEnd(p-1) && !upperFirst(s.tokens[p-1].text) { // not a constructor such as Ok
			return scoreArgument
		}
	}
	return score
}

// assertion adds the literals of the arguments of an assertion, except its message.
func (s *Source) assertion(i, open int, add func(i, score int)) {
	name := s.tokens[i].text
	if negative.MatchString(name) {
		return
	}
	args := s.split(open)
	if len(args) > 0 && args[0][1]-args[0][0] == 1 && testHandle.has(s.tokens[args[0][0]].text) {
		args = args[1:]
	}
	values := 1
	if binaryAssertion.MatchString(name) || strings.Contains(strings.ToLower(name), "eq") {
		values = 2
	}
	if s.lang.name == "Java" && len(args) > values && s.tokens[args[0][0]].kind == str && args[0][1]-args[0][0] == 1 {
		if last := args[len(args)-1]; s.tokens[last[0]].kind != str {
			args = args[1:] // the message comes first
		}
	}
	if len(args) > values {
		args = args[:values]
	}
	for _, arg := range args {
		s.operands(arg[0], arg[1], open, values == 2, add)
	}
}

var testHandle = set("t tb b f T self")

// operands adds the literals of an argument or condition of an assertion.
func (s *Source) operands(from, to, open int, whole bool, add func(i, score int)) {
	score, inverse := scoreArgument, false
	if whole {
		score = scoreExpected
	}
	for j := from; j < to; j++ {
		switch t := s.tokens[j]; {
		case s.parent[j] != open || t.kind == str:
		case t.text == "==" || t.text == "===" || t.text == "=" && s.lang.has(singleEqual) || t.text == "is" || t.text == "in":
			score = scoreCompared
		case t.text == "!=" || t.text == "!==" || t.text == "not" || t.text == "!" || t.text == s.lang.notEqual:
			inverse = true
		case t.text == "<" || t.text == ">" || t.text == "<=" || t.text == ">=":
			score = scoreOrdered
		}
	}
	if inverse {
		return
	}
	for j := from; j < to; j++ {
		if s.is(j-1, "&&") && s.tokens[j].kind == str {
			continue // assert(x && "message")
		}
		add(j, s.depthScore(j, open, score))
	}
}

// assertStatement adds the literals of "assert x == 1, message".
func (s *Source) assertStatement(i int, add func(i, score int)) {
	if !s.startsStatement(i) || s.is(i, "refute") {
		return
	}
	end := i + 1
	for end < len(s.tokens) && (s.tokens[end].line == s.tokens[i].line || s.parent[end] != s.parent[i]) {
		if s.parent[end] == s.parent[i] && (s.is(end, ",") || s.is(end, ":") && s.lang.name == "Java" || s.is(end, ";")) {
			break
		}
		end++
	}
	s.operands(i+1, end, s.parent[i], false, add)
}

// commandAssertion adds the literals of a call without parentheses: assert_equal 3, x
func (s *Source) commandAssertion(i int, add func(i, score int)) {
	if negative.MatchString(s.tokens[i].text) {
		return
	}
	commas, values := 0, 1
	if binaryAssertion.MatchString(s.tokens[i].text) {
		values = 2
	}
	for j := i + 1; j < len(s.tokens) && (s.tokens[j].line == s.tokens[i].line || s.parent[j] != s.parent[i]); j++ {
		if s.is(j, ",") && s.parent[j] == s.parent[i] {
			commas++
		}
		if commas >= values {
			return
		}
		score := scoreArgument
		if values == 2 {
			score = s.depthScore(j, s.parent[i], scoreExpected)
		}
		add(j, score)
	}
}

// failingCondition adds the literals of a condition in Go whose block reports a failure.
func (s *Source) failingCondition(i int, add func(i, score int)) {
	open := -1
	for j := i + 1; j < len(s.tokens) && s.tokens[j].line == s.tokens[i].line; j++ {
		if s.is(j, "{") && s.blocks[j] == blockCode && s.parent[j] == s.parent[i] {
			open = j
		}
	}
	if open < 0 || open+3 >= len(s.tokens) || !failCall.MatchString(s.calleeAt(open+1)) {
		return
	}
	score := scoreArgument
	for j := i + 1; j < open; j++ {
		switch t := s.tokens[j]; {
		case t.text == "==" && t.kind == operator:
			return
		case t.text == "!=" && t.kind == operator:
			score = scoreChecked
		case t.kind == operator && boundaries[t.text] != "":
			score = scoreOrdered
		}
	}
	for j := i + 1; j < open; j++ {
		add(j, s.depthScore(j, s.parent[i], score))
	}
}

// wantedValue adds the literals that are assigned to an expected value.
func (s *Source) wantedValue(i int, add func(i, score int)) {
	score := scoreNamed
	if s.is(i+1, ":") {
		score = scoreTable
	}
	for j := i + 2; j < len(s.tokens) && (s.tokens[j].line == s.tokens[i].line || s.parent[j] != s.parent[i] && j < i+200); j++ {
		if s.parent[j] == s.parent[i] && (s.is(j, ",") || s.is(j, ";")) {
			return
		}
		add(j, s.depthScore(j, s.parent[i], score))
	}
}

// rows adds the literals of the rows of a table that are the arguments of a call.
func (s *Source) rows(open int, add func(i, score int)) {
	for j := open + 1; j < s.match[open]; j++ {
		if s.tokens[j].kind == opening && s.match[j] > j {
			s.row(j, add)
		}
	}
}

// row adds the literals of a row, of which the last is the expected value as a rule.
func (s *Source) row(open int, add func(i, score int)) {
	last := -1
	for j := open + 1; j < s.match[open]; j++ {
		if _, ok := s.literal(j); ok && s.parent[j] == open {
			last = j
			add(j, scoreTableCell)
		}
	}
	if last >= 0 && last+1 == s.match[open] || last >= 0 && last+2 == s.match[open] && s.is(last+1, ",") {
		add(last, scoreTable)
	}
}

// goTable adds the rows of a literal whose type is a slice or map of an unnamed struct.
func (s *Source) goTable(i int, add func(i, score int)) {
	if !s.is(i+1, "{") || s.match[i+1] < 0 || !s.is(i-1, "]") {
		return
	}
	open := s.match[i+1] + 1
	if !s.is(open, "{") || s.match[open] < 0 {
		return
	}
	for j := open + 1; j < s.match[open]; j++ {
		if s.is(j, "{") && s.parent[j] == open && s.match[j] > j {
			if !s.is(j+2, ":") {
				s.row(j, add)
			}
			j = s.match[j]
		}
	}
}

var (
	shellCompared = lazy(`(?:\s(?:=|==|-eq)\s+)("[^"$` + "`" + `]+"|'[^']+'|[\w./-]+)`)
	shellAssert   = lazy(`^\s*assert(?:_equal|_output|_line|Equals|_success)?\s+(?:--?\w+\s+)*("[^"$` + "`" + `]+"|'[^']+'|[\w./-]+)`)
)

// shellExpectations returns what test commands and assertions of a shell script compare
// with.
func (s *Source) shellExpectations() []Literal {
	var out []Literal
	for line := 1; line <= len(s.lines); line++ {
		from, to := s.tokensOn(line)
		text := s.lineText(line)
		if from == to || !strings.Contains(text, "[") && !strings.Contains(text, "test ") && !shellAssert.MatchString(text) {
			continue
		}
		for _, re := range []pattern{shellCompared, shellAssert} {
			for _, m := range re().FindAllStringSubmatchIndex(text, -1) {
				start, end := s.lines[line-1]+m[2], s.lines[line-1]+m[3]
				l := Literal{Line: line, Start: start, End: end, Text: s.text[start:end], Kind: kindString}
				if strings.Trim(l.Text, "0123456789") == "" {
					l.Kind = kindNumber
				}
				if c := s.classAt(start); c != classComment && s.Replace(l) != nil {
					out = append(out, l)
				}
			}
		}
	}
	return out
}
