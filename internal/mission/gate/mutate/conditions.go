package mutate

import "strings"

// conditionEdit makes the condition of an if or while impossible. The condition stays
// in the text, so that what it uses is still used.
func (s *Source) conditionEdit(_, from, to int) (edit, bool) {
	for i := from; i < to; i++ {
		t := s.tokens[i]
		if t.kind != word || t.text != "if" && t.text != "while" && t.text != "elif" && t.text != "elsif" && t.text != "elseif" && t.text != "unless" {
			continue
		}
		if i > from && !s.is(i-1, "else") && !s.is(i-1, "}") && s.lang.family != familyEnd {
			return edit{}, false
		}
		first, last, ok := s.condition(i, to)
		if !ok || first >= last || s.errorCheck(first, last) {
			return edit{}, false
		}
		start, end := s.tokens[first].start, s.tokens[last-1].end
		return edit{opCondition, start, end, s.never(t.text, s.text[start:end])}, true
	}
	return edit{}, false
}

// never returns a condition that is never met, or for unless always.
func (s *Source) never(keyword, condition string) string {
	switch {
	case s.lang.name == "Python" || s.lang.name == "Lua":
		return s.lang.isFalse + " and (" + condition + ")"
	case keyword == "unless":
		return "true || (" + condition + ")"
	}
	isFalse := s.lang.isFalse
	return isFalse + " && (" + condition + ")"
}

// condition returns the tokens of the condition after the keyword at i, if they are all
// on its line.
func (s *Source) condition(i, to int) (first, last int, ok bool) {
	first = i + 1
	if s.lang.isFalse == "" || first >= to {
		return 0, 0, false
	}
	switch {
	case s.lang.name == "Go" || s.lang.name == "Rust" || s.lang.name == "Swift":
		return s.openCondition(first, to)
	case s.lang.family == familyBrace:
		if !s.is(first, "(") || s.match[first] < 0 || s.match[first] >= to || s.hasWord(first, s.match[first], ";") || s.hasWord(first, s.match[first], "let") {
			return 0, 0, false
		}
		return first + 1, s.match[first], true
	case s.lang.name == "Python":
		for j := first; j < to; j++ {
			switch {
			case s.tokens[j].kind == opening && s.match[j] > j:
				j = s.match[j]
			case s.is(j, ":") || s.is(j, ":="):
				return first, j, s.is(j, ":") && s.parent[j] == s.parent[i]
			}
		}
	case s.lang.name == "Lua":
		for j := first; j < to; j++ {
			if s.is(j, "then") || s.is(j, "do") {
				return first, j, true
			}
		}
	case s.lang.name == "Ruby":
		return s.rubyCondition(i, first, to)
	}
	return 0, 0, false
}

// openCondition reads a condition without parentheses, up to the brace.
func (s *Source) openCondition(first, to int) (int, int, bool) {
	depth := s.parent[first-1]
	for j := first; j < to; j++ {
		switch {
		case s.is(j, ";") && s.parent[j] == depth:
			first = j + 1
		case s.is(j, "let") || s.is(j, "var") || s.is(j, "case") || s.is(j, ",") && s.lang.name == "Swift" && s.parent[j] == depth || s.is(j, "#"):
			return 0, 0, false
		case s.is(j, "{") && s.blocks[j] == blockCode && s.parent[j] == depth:
			return first, j, true
		case s.tokens[j].kind == opening && s.match[j] > j:
			j = s.match[j]
		}
	}
	return 0, 0, false
}

func (s *Source) rubyCondition(i, first, to int) (int, int, bool) {
	last := to
	if s.is(to-1, "then") {
		last--
	}
	for j := first; j < last; j++ {
		if s.is(j, "do") || s.is(j, "=") || s.is(j, ";") || s.parent[j] != s.parent[i] && s.match[j] >= to {
			return 0, 0, false
		}
	}
	next := s.tokens[last-1]
	return first, last, next.kind != operator && next.text != ","
}

// errorCheck reports whether a condition asks for an error: to leave the check out
// says little, and the negated comparison says more.
func (s *Source) errorCheck(first, last int) bool {
	text := s.text[s.tokens[first].start:s.tokens[last-1].end]
	return strings.HasSuffix(text, "!= nil") && strings.Contains(strings.ToLower(text), "err")
}

// loopEdit leaves a loop before its first round.
func (s *Source) loopEdit(from, to int) (edit, bool) {
	if !s.is(from, "for") && !s.is(from, "foreach") {
		return edit{}, false
	}
	if s.lang.name == "Python" {
		first := from + 1
		for first < to && !s.is(first, "in") {
			first++
		}
		if !s.is(to-1, ":") || first+1 >= to-1 || s.parent[to-1] != s.parent[from] {
			return edit{}, false
		}
		return edit{opSkipLoop, s.tokens[first+1].start, s.tokens[to-2].end, "()"}, true
	}
	skip := map[string]string{"Go": " break;", "Rust": " if true { break; }", "Swift": " if true { break };"}[s.lang.name]
	if skip == "" {
		skip = " if (true) break;"
	}
	if s.lang.isFalse == "0" {
		skip = " if (1) break;"
	}
	if s.lang.family != familyBrace || !s.is(to-1, "{") || s.blocks[to-1] != blockCode || s.parent[to-1] != s.parent[from] || s.is(from+1, "{") || s.is(from+1, "await") || s.lang.name == "Perl" || s.lang.name == "Scala" {
		return edit{}, false
	}
	at := s.tokens[to-1].end
	return edit{opSkipLoop, at, at, skip}, true
}
