package mutate

import "strings"

// IsCode reports whether a line (from 1) contains code that can behave: not blank, a
// comment, lone brackets, an import, the header of a function, or a declaration of types
// or fields.
func (s *Source) IsCode(line int) bool { return s.valid(line) && s.code[line] }

func (s *Source) markCode() {
	s.code = make([]bool, len(s.lines)+1)
	if s.lang.family == familyData {
		return
	}
	for line := 1; line <= len(s.lines); line++ {
		s.code[line] = s.behaves(line)
	}
	for line := 1; line <= len(s.lines); line++ {
		if _, ok := s.defineEdit(line); ok {
			s.code[line] = true
		}
	}
	for _, t := range s.tokens { // the inner lines of strings
		if t.kind == str {
			for line := t.line + 1; line <= s.endLine(t); line++ {
				s.code[line] = strings.TrimSpace(s.lineText(line)) != "" && line < s.endLine(t)
			}
		}
	}
}

// tokensOn returns the range of the tokens that start on a line.
func (s *Source) tokensOn(line int) (from, to int) { return s.first[line], s.first[line+1] }

var (
	// idle are words that do nothing by themselves.
	idle        = set("else end do then fi done esac try finally ensure begin default fallthrough pass loop unsafe in switch select")
	importWords = set("import package using include require_relative namespace alias")
	declareOnly = set("type interface struct enum class trait module protocol typedef declare")
	functionDef = lazy(`^(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|internal\s+|static\s+|final\s+|abstract\s+|override\s+|async\s+|const\s+|unsafe\s+|open\s+|inline\s+|suspend\s+|local\s+|virtual\s+|extern(?:\s+"C")?\s+|sealed\s+|data\s+|partial\s+|case\s+)*(?:func|fn|fun|function\*?|def|defp|defmodule|defmacro|sub|class|interface|struct|enum|trait|impl|module|mod|namespace|protocol|extension|object|record|type)\b`)
)

func (s *Source) behaves(line int) bool {
	from, to := s.tokensOn(line)
	meaningful := false
	for i := from; i < to; i++ {
		t := s.tokens[i]
		if t.kind == word && !idle.has(t.text) || t.kind == number || t.kind == str || t.kind == char || t.kind == regex {
			meaningful = true
		}
	}
	if !meaningful || s.isImport(from) || s.tokens[from].text == "@" || s.tokens[from].decorator {
		return false
	}
	if to == from+1 && s.tokens[from].kind == str && s.directive(from) {
		return false
	}
	trimmed := strings.TrimSpace(s.lineText(line))
	switch {
	case s.lang.name == "PHP" && strings.HasPrefix(trimmed, "declare("):
		return false
	case s.lang.name == "Shell" && (shellParts.has(s.tokens[from].text) && s.tokens[from].text != "elif" || s.is(to-1, ")") && s.match[to-1] < 0):
		return false
	case s.lang.name == "Shell":
		return !strings.HasSuffix(trimmed, "() {") && !strings.HasPrefix(trimmed, "function ")
	}
	if s.lang.family != familyExpression && s.lang.name != "Go" && functionDef.MatchString(trimmed) && !s.oneLiner(from, to) {
		return false
	}
	return !s.declares(line, from, to)
}

// oneLiner reports whether a header is followed by its body on the same line.
func (s *Source) oneLiner(from, to int) bool {
	for i := from; i < to; i++ {
		if s.blocks[i] == blockFunction && s.match[i] < to && s.match[i] > i+1 || s.is(i, "=") && s.parent[i] == s.parent[from] && s.lang.name != "TypeScript" {
			return true
		}
	}
	last := s.tokens[to-1]
	return s.lang.family == familyIndent && last.text != ":" && s.parent[to-1] == s.parent[from] && s.hasWord(from, to, ":") && s.tokens[from].text == "def"
}

// declares reports whether a line only declares types, fields or functions.
func (s *Source) declares(line, from, to int) bool {
	p := s.parent[from]
	if p >= 0 && s.tokens[p].text == "{" && s.blocks[p] == blockType && !s.hasWord(from, to, "=") && !s.hasWord(from, to, "=>") && !s.oneLiner(from, to) {
		return true
	}
	for p >= 0 && s.blocks[p] == blockNone {
		if n := p - 1; n >= 0 && (s.tokens[p].text == "(" && (s.is(n, "import") || s.is(n, "type"))) {
			return true
		}
		p = s.parent[p]
	}
	if s.lang.family == familyBrace && s.headerLine(line, from, to) {
		return true
	}
	first := s.tokens[from]
	if s.lang.family == familyBrace && !s.lang.has(topLevelCode) && s.parent[from] < 0 && s.lang.name != "Go" && !s.hasWord(from, to, "=") {
		return !s.oneLiner(from, to) // a prototype
	}
	if s.lang.family == familyExpression && (first.text == "module" || s.is(from+1, "::")) || s.variable(from, to) {
		return true
	}
	if s.lang.family == familyIndent && first.kind == word && s.is(from+1, ":") && to > from+2 && !first.keyword && !s.hasWord(from, to, "=") {
		return s.parent[from] < 0 // an annotation
	}
	if first.text == "var" && s.lang.name == "Go" || s.goSpec(from) {
		return !s.hasWord(from, to, "=")
	}
	return first.kind == word && declareOnly.has(first.text) && s.lang.family == familyBrace && !s.hasWord(from, to, "=")
}

// variable reports whether tokens declare a variable without a value, in the style of C.
func (s *Source) variable(from, to int) bool {
	if s.lang.family != familyBrace || !s.is(to-1, ";") || to-from < 3 || !s.valueEnd(from) && !s.tokens[from].typeName && !modifiers.has(s.tokens[from].text) {
		return false
	}
	for i := from; i < to-1; i++ {
		switch t := s.tokens[i]; t.text {
		case "*", "<", ">", ",", "[", "]", "?", "::":
		default:
			if t.kind != word && t.kind != number {
				return false
			}
		}
	}
	return s.tokens[from+1].kind == word || s.tokens[from].typeName || s.is(from+1, "<")
}

// goSpec reports whether a line is part of a declaration group of variables.
func (s *Source) goSpec(from int) bool {
	p := s.parent[from]
	return s.lang.name == "Go" && p > 0 && s.tokens[p].text == "(" && s.is(p-1, "var") && s.parent[p] < 0
}

// headerLine reports whether all tokens of a line belong to the header of a function.
func (s *Source) headerLine(_, from, to int) bool {
	for _, f := range s.functions {
		if f.start <= from && to-1 <= f.open && (f.params >= 0 || s.is(f.open-1, "=>")) && f.name != "" {
			return true
		}
	}
	return false
}

// isImport reports whether a token starts a line of an import.
func (s *Source) isImport(from int) bool {
	first := s.tokens[from]
	if p := s.parent[from]; p > 0 && (s.is(p-1, "import") || s.is(p-1, "use") || s.is(p-1, "export") || s.is(p-1, "from")) {
		return true
	}
	line := strings.TrimSpace(s.lineText(first.line))
	switch {
	case first.kind != word:
		return first.text == "}" && importEnd.MatchString(line)
	case importWords.has(first.text) && s.lang.family != familyShell:
		return !s.is(from+1, "=") && !s.is(from+1, ":") && !s.is(from+1, "(") || first.text == "import" && s.is(from+1, "(") && s.lang.name == "Go"
	case first.text == "from":
		return s.lang.family == familyIndent
	case first.text == "use" || first.text == "no":
		return s.lang.name == "Rust" || s.lang.name == "PHP" || s.lang.name == "Perl" || s.lang.name == "Elixir"
	case first.text == "pub" || first.text == "export":
		return pubUse.MatchString(line)
	case first.text == "source":
		return s.lang.family == familyShell
	}
	return requireCall.MatchString(line)
}

var (
	importEnd   = lazy(`^\}\s*from\s`)
	pubUse      = lazy(`^(?:pub(?:\([^)]*\))?\s+(?:use|mod\s+\w+;)|export\s+(?:\*|\{).*from\s)`)
	requireCall = lazy(`^(?:(?:const|let|var|local)\s+[^=]+=\s*)?(?:require|load)\b\s*\(?\s*['"]`)
)
