package mutate

import (
	"sort"
	"strings"
)

// Break returns the text with an error that no compiler or interpreter accepts when it
// loads the file, or false if the language has none.
func (s *Source) Break() ([]byte, bool) {
	if s.lang.family == familyData {
		return nil, false
	}
	if !s.lang.has(breakAtStart) {
		end := s.guardEnd()
		return s.splice(end, end, s.separator(end)+")"+s.lineBreak()), true
	}
	at := 0
	if strings.HasPrefix(s.text, "#!") {
		at = s.nextLine(0)
	}
	if s.lang.name == "PHP" {
		at += strings.Index(s.text[at:], "<?php") + len("<?php")
		return s.splice(at, at, s.lineBreak()+")"+s.lineBreak()), true
	}
	return s.splice(at, at, s.separator(at)+")"+s.lineBreak()), true
}

// guardEnd returns where a last line can be added: before the directive that ends a
// file whose code is conditional, else at the end.
func (s *Source) guardEnd() int {
	if !s.lang.has(hashDirectives) || !s.guarded() {
		return len(s.text)
	}
	for line := len(s.lines); line >= 1; line-- {
		text := strings.TrimSpace(s.lineText(line))
		if strings.HasPrefix(text, "#endif") {
			return s.lines[line-1]
		}
		if text != "" && s.classAt(s.lines[line-1]+len(s.indent(line))) != classComment {
			break
		}
	}
	return len(s.text)
}

// guarded reports whether a file starts with a condition of the preprocessor.
func (s *Source) guarded() bool {
	for line := 1; line <= len(s.lines); line++ {
		text := strings.TrimSpace(s.lineText(line))
		if text != "" && s.classAt(s.lines[line-1]+len(s.indent(line))) != classComment {
			return strings.HasPrefix(text, "#if")
		}
	}
	return false
}

// nextLine returns the offset of the line after the one that contains an offset.
func (s *Source) nextLine(offset int) int {
	if n := strings.IndexByte(s.text[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(s.text)
}

// separator returns the line break that a new line at an offset needs before it.
func (s *Source) separator(offset int) string {
	if offset == 0 || s.text[offset-1] == '\n' {
		return ""
	}
	return s.lineBreak()
}

// classAt returns the class of the character at an offset.
func (s *Source) classAt(offset int) class {
	if part := s.spanAt(offset); part != nil {
		return part.class
	}
	return classCode
}

// spanAt returns the span around an offset, or nil at the end of the text.
func (s *Source) spanAt(offset int) *span {
	i := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].end > offset })
	if i == len(s.spans) {
		return nil
	}
	return &s.spans[i]
}

// Comment returns the text with a comment line added at the end, or false if the
// language has no comments or the end is not a place for one.
func (s *Source) Comment() ([]byte, bool) {
	if s.lang.comment == "" || strings.HasSuffix(strings.TrimRight(s.text, "\r\n"), "\\") {
		return nil, false
	}
	start := len(s.text) + len(s.separator(len(s.text)))
	line := s.lang.comment + " checked" + s.lang.commentEnd
	if s.lang.commentEnd != "" {
		line = s.lang.comment + " checked " + s.lang.commentEnd
	}
	text := s.splice(len(s.text), len(s.text), s.separator(len(s.text))+line+s.lineBreak())
	changed, ok := Parse(s.Path, text)
	if !ok || len(changed.tokens) != len(s.tokens) || changed.classAt(start) != classComment || changed.spanStart(start) < len(s.text) && !changed.ownComment(start) {
		return nil, false
	}
	return text, true
}

// spanStart returns where the span around an offset starts.
func (s *Source) spanStart(offset int) int {
	if part := s.spanAt(offset); part != nil {
		return part.start
	}
	return offset
}

// ownComment reports whether the comment before the line at an offset is complete
// without that line: the lexers join adjacent comments.
func (s *Source) ownComment(offset int) bool {
	before := strings.TrimSpace(s.text[s.spanStart(offset):offset])
	last := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.HasPrefix(strings.TrimSpace(last), s.lang.comment) && s.lang.commentEnd == "" || strings.HasSuffix(before, "*/") || strings.HasPrefix(before, "#!") ||
		strings.Contains(last, s.lang.comment) && s.lang.commentEnd == "" || s.lang.commentEnd != "" && strings.HasSuffix(before, s.lang.commentEnd)
}

// Crash returns the text with a statement before the line that ends the whole process,
// or false where a statement cannot stand.
func (s *Source) Crash(line int) ([]byte, bool) {
	if !s.IsCode(line) || s.lang.crash == "" {
		return nil, false
	}
	from, to := s.tokensOn(line)
	if from == to || s.tokens[from].start != s.lines[line-1]+len(s.indent(line)) || !s.acceptsStatement(from, to) {
		return nil, false
	}
	at := s.lines[line-1]
	return s.splice(at, at, s.indent(line)+s.lang.crash+s.lineBreak()), true
}

// acceptsStatement reports whether a statement of any kind is valid before the line
// that consists of some tokens.
func (s *Source) acceptsStatement(from, to int) bool {
	first := s.tokens[from].text
	switch {
	case s.lang.family == familyShell:
		return s.commandStart(from, to) && !shellParts.has(first)
	case !s.startsStatement(from):
		return false
	case first == "super" || first == "this" && s.is(from+1, "("), first == "declare", s.tokens[from].kind == str:
		return false
	case s.lang.name == "Lua" && first == "(":
		return false
	case s.lang.family == familyEnd && s.inTypeBody(from):
		return s.lang.name == "Ruby"
	}
	if f := s.functionAt(from); f != nil {
		return !s.hasWord(f.start, f.open, "constexpr") && (s.lang.name != "Rust" || !s.hasWord(f.start, f.open, "const"))
	}
	return s.lang.has(topLevelCode) || s.lang.family != familyBrace
}

var shellParts = set("then else elif fi do done esac in")

// inTypeBody reports whether the closest line with less indentation declares a module or
// a class.
func (s *Source) inTypeBody(from int) bool {
	line := s.tokens[from].line
	indent := len(s.indent(line))
	for n := line - 1; n >= 1; n-- {
		first, end := s.tokensOn(n)
		if first < end && len(s.indent(n)) < indent {
			return s.is(first, "defmodule") || s.is(first, "module") || s.is(first, "class") || s.is(first, "struct") || s.is(first, "describe") || s.is(first, "schema")
		}
	}
	return false
}
