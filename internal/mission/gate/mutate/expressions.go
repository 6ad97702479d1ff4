package mutate

import "slices"

// resultEdit returns a change of what an expression without a return statement returns: that of an arrow function, or of
// a lambda.
func (s *Source) resultEdit(i int) (edit, bool) {
	first, result := i+1, ""
	switch {
	case s.is(i, "=>") && slices.Contains([]string{"JavaScript", "JSX", "TypeScript"}, s.lang.name) && !s.is(i+1, "{"):
		result = "undefined"
		if s.lang.name == "TypeScript" {
			result = "undefined as any"
		}
	case s.is(i, "lambda") && s.lang.name == "Python":
		for first < len(s.tokens) && !s.is(first, ":") && s.tokens[first].line == s.tokens[i].line {
			first++
		}
		first++
		result = "None"
	default:
		return edit{}, false
	}
	last := s.expressionEnd(first)
	if last < first {
		return edit{}, false
	}
	return edit{opReturn, s.tokens[first].start, s.tokens[last].end, result}, true
}

// expressionEnd returns the last token of an expression that starts at a token and ends on its line, or -1.
func (s *Source) expressionEnd(first int) int {
	if first >= len(s.tokens) {
		return -1
	}
	last := -1
	for i := first; i < len(s.tokens) && s.tokens[i].line == s.tokens[first].line; i++ {
		switch text := s.tokens[i].text; {
		case slices.Contains([]string{",", ";", ")", "]", "}"}, text):
			return last
		case s.match[i] > i:
			i = s.match[i]
			if s.tokens[i].line != s.tokens[first].line {
				return -1
			}
		}
		last = i
	}
	return last
}

// dynamic are languages in which a value may have any type. In others only calls are removed that keep the type.
var (
	dynamic   = []string{"JavaScript", "JSX", "TypeScript", "Python", "Ruby", "Lua", "Elixir", "Julia", "Crystal"}
	keepsType = []string{"trim", "strip", "toLowerCase", "toUpperCase", "lowercase", "uppercase", "abs", "normalize", "sorted", "reversed", "distinct", "rev"}
)

// callEdit returns the removal of a method call without arguments.
func (s *Source) callEdit(i int) (edit, bool) {
	if !s.is(i, ".") || !s.valueEnd(i-1) || i+3 >= len(s.tokens) || s.tokens[i+1].kind != word || !s.is(i+2, "(") || !s.is(i+3, ")") {
		return edit{}, false
	}
	if !slices.Contains(dynamic, s.lang.name) && !slices.Contains(keepsType, s.tokens[i+1].text) || s.logs(s.callee(i+2)) || !s.resultUsed(i) {
		return edit{}, false
	}
	return edit{opCall, s.tokens[i].start, s.tokens[i+3].end, ""}, true
}

// resultUsed reports whether the statement of a call does something with its result: without the call, the others are as
// if the statement was deleted.
func (s *Source) resultUsed(i int) bool {
	from, to := s.tokensOn(s.tokens[i].line)
	last := i + 3
	if last+1 < to && !s.is(last+1, ";") {
		return true
	}
	return slices.ContainsFunc(s.tokens[from:i], func(t tok) bool {
		return t.kind == operator && t.text != "." || t.text == "return" || t.kind == opening
	})
}
