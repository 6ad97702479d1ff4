package mutate

import (
	"slices"
	"strings"
)

var shellTests = map[string]string{
	"-eq": "-ne", "-ne": "-eq", "-lt": "-ge", "-ge": "-lt", "-gt": "-le", "-le": "-gt", "-z": "-n", "-n": "-z",
}

// shellOperator returns the changes of an operator in a shell script. Words such as -eq
// are an operator and a word.
func (s *Source) shellOperator(i int) []edit {
	t := s.tokens[i]
	one := func(op, text string, end int) []edit { return []edit{{op, t.start, end, text}} }
	switch t.text {
	case "&&", "||":
		return one(opLogic, map[string]string{"&&": "||", "||": "&&"}[t.text], t.end)
	case "|":
		if end, ok := s.pipeEnd(i); ok {
			return one(opCall, "", end)
		}
	case "-":
		if i+1 < len(s.tokens) && s.tokens[i+1].start == t.end && s.inTest(i) {
			if other := shellTests["-"+s.tokens[i+1].text]; other != "" {
				return one(opNegate, other, s.tokens[i+1].end)
			}
		}
	case "=", "==":
		if s.inTest(i) && s.spaces(i) == 2 {
			return one(opNegate, "!=", t.end)
		}
	case "!=":
		if s.inTest(i) && s.spaces(i) == 2 {
			return one(opNegate, "=", t.end)
		}
	}
	if s.inArithmetic(i) {
		if other := negations[t.text]; other != "" {
			return one(opNegate, other, t.end)
		}
		if other := arithmetic[t.text]; other != "" && s.valueEnd(i-1) && len(t.text) == 1 && t.text != "&" && t.text != "|" {
			return one(opArithmetic, other, t.end)
		}
	}
	return nil
}

// pipeEnd returns the end of the command after a pipe on the same line, or false if it is a loop or a group.
func (s *Source) pipeEnd(i int) (end int, ok bool) {
	_, to := s.tokensOn(s.tokens[i].line)
	if i+1 >= to || s.tokens[i+1].kind != word || shellParts.has(s.tokens[i+1].text) || slices.Contains([]string{"while", "until", "for", "if", "case"}, s.tokens[i+1].text) || s.inTest(i) {
		return 0, false
	}
	for j := i + 1; j < to; j++ {
		if s.parent[j] == s.parent[i] && slices.Contains([]string{"|", "&&", "||", ";"}, s.tokens[j].text) || s.tokens[j].kind == closing && s.match[j] == s.parent[i] {
			return s.tokens[j].start, true
		}
		end = s.tokens[j].end
	}
	return end, true
}

// inTest reports whether a token is inside [ ], [[ ]] or after test.
func (s *Source) inTest(i int) bool {
	if p := s.parent[i]; p >= 0 && s.tokens[p].text == "[" {
		return true
	}
	from, _ := s.tokensOn(s.tokens[i].line)
	for j := i - 1; j >= from && j > i-6; j-- {
		if s.is(j, "test") {
			return true
		}
	}
	return false
}

// inArithmetic reports whether a token is inside (( )).
func (s *Source) inArithmetic(i int) bool {
	for p := s.parent[i]; p >= 0; p = s.parent[p] {
		if s.is(p, "(") && s.parent[p] == p-1 && p > 0 && s.is(p-1, "(") && s.tokens[p-1].end == s.tokens[p].start {
			return true
		}
	}
	return false
}

func (s *Source) shellWord(i int) []edit {
	t := s.tokens[i]
	switch t.text {
	case "true", "false":
		return []edit{{opBoolean, t.start, t.end, booleans[t.text]}}
	case "break", "continue":
		return []edit{{opLoop, t.start, t.end, map[string]string{"break": "continue", "continue": "break"}[t.text]}}
	}
	return nil
}

// shellNumber reports whether a number in a shell script is a value: not part of a word,
// a flag or a file descriptor.
func (s *Source) shellNumber(i int) bool {
	t := s.tokens[i]
	if s.inArithmetic(i) {
		return true
	}
	from, to := s.tokensOn(t.line)
	if s.is(i-1, "return") || s.is(i-1, "exit") {
		return from < to
	}
	return s.inTest(i) && s.spaces(i) == 2 || s.is(i-1, "=") && s.tokens[i-1].end == t.start && (i+1 >= to || s.tokens[i+1].start > t.end)
}

var shellCommand = lazy(`^[A-Za-z_][\w./-]*(?:\s|$)`)

// shellStatement replaces a simple command by one that does nothing, and negates the
// condition of an if.
func (s *Source) shellStatement(line, from, to int) []edit {
	text := strings.TrimSpace(s.lineText(line))
	start := s.tokens[from].start
	first := s.tokens[from]
	switch {
	case first.text == "if" || first.text == "while" || first.text == "elif":
		if from+1 < to && s.tokens[from+1].kind == word && !s.is(from+1, "test") && first.text != "while" {
			at := s.tokens[from+1].start
			return []edit{{opNegate, at, at, "! "}}
		}
		return nil
	case !s.startsCommand(from, to) || shellIdle.has(first.text) || strings.HasPrefix(text, "set ") || !shellCommand.MatchString(text) || strings.ContainsAny(text, "{}()&|<`") || strings.Contains(text, ";;"):
		return nil
	case strings.Contains(text, "=") && !strings.Contains(text, " "):
		return nil
	}
	return []edit{{opDelete, start, s.tokens[to-1].end, ":"}}
}

var shellIdle = set(`if then else elif fi for while until do done case esac in function return exit break continue local export readonly declare echo printf
	source eval exec shift set trap wait sleep cd pushd popd unset true false select time test mkdir rm log info warn error debug die`)

// startsCommand reports whether a line of a shell script is a command of its own.
func (s *Source) startsCommand(from, to int) bool {
	if from == to || s.parent[from] >= 0 && s.blocks[s.parent[from]] == blockNone {
		return false
	}
	if strings.HasSuffix(s.lineText(s.tokens[from].line), "\\") || s.parent[to-1] != s.parent[from] {
		return false
	}
	return s.commandStart(from, to)
}

// commandStart reports whether a command starts with a line.
func (s *Source) commandStart(from, to int) bool {
	if s.parent[from] >= 0 && s.blocks[s.parent[from]] == blockNone {
		return false
	}
	t := s.tokens[from]
	if t.kind != word && t.text != "[" || t.start != s.lines[t.line-1]+len(s.indent(t.line)) {
		return false
	}
	if from > 0 {
		before := s.tokens[from-1]
		if s.endLine(before) == t.line || s.continued(before.end, t.start) || before.text == "|" || before.text == "&&" || before.text == "||" {
			return false
		}
		if before.text == ";;" || before.text == "in" { // a pattern of a case
			return false
		}
	}
	return !s.is(to-1, ")") || s.match[to-1] >= 0
}
