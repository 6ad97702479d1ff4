// Package mutate changes source code on purpose, so that the gate can see whether the
// tests of a project notice. It works on the tokens of a file and needs no parser: the
// lexers of chroma tell code from strings and comments, and what is left is read by
// rules that many languages share. It leaves out what it cannot change reliably.
//
// The package is pure: it reads no files and starts no processes.
package mutate

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxSource is the size of the largest file that is read, in bytes.
const maxSource = 1 << 20

// Source is the text of a source file, split into tokens.
type Source struct {
	Path string
	Text []byte

	lang      *language
	text      string
	spans     []span
	tokens    []tok
	lines     []int   // where each line starts
	first     []int   // the first token that starts on a line or after it
	match     []int   // the other bracket of a pair, or -1
	parent    []int   // the innermost open bracket around a token, or -1
	blocks    []block // what each opening brace is
	functions []function
	code      []bool // by line, from 1
}

// Mutant is a source file with one change.
type Mutant struct {
	Path          string
	Line          int
	Operator      string
	Before, After string // the changed line
	Text          []byte // the whole new file
}

// Literal is a literal in code. Start and End are offsets in the text.
type Literal struct {
	Line, Start, End int
	Text             string
	Kind             string // string, number, bool or nil
}

// The kinds of literals.
const (
	kindString = "string"
	kindNumber = "number"
	kindBool   = "bool"
	kindNil    = "nil"
)

// Parse splits a file into tokens. It returns false if there is no lexer for the file,
// by its name or the first line of a script, or if it is not text or larger than 1 MiB.
func Parse(path string, text []byte) (*Source, bool) {
	if len(text) > maxSource || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, false
	}
	lang := languageOf(path, text)
	if lang == nil || lang.name == "PHP" && !purePHP(text) {
		return nil, false
	}
	parts, ok := spans(lang, string(text))
	if !ok {
		return nil, false
	}
	s := &Source{Path: path, Text: text, lang: lang, text: string(text), spans: parts}
	s.splitLines()
	s.tokenize()
	s.dropDocs()
	s.indexLines()
	s.matchBrackets()
	s.findBlocks()
	s.findFunctions()
	s.markCode()
	return s, true
}

// purePHP reports whether a file contains nothing but code: in a template the lexer
// would read the page as code.
func purePHP(text []byte) bool {
	if bytes.HasPrefix(text, []byte("#!")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("<?php")) && !bytes.Contains(text, []byte("?>"))
}

// Language returns the name of the language, e.g. "Go".
func (s *Source) Language() string { return s.lang.name }

// Lines returns the number of lines.
func (s *Source) Lines() int { return len(s.lines) }

func (s *Source) splitLines() {
	s.lines = []int{0}
	for i := range len(s.text) - 1 {
		if s.text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	if s.text == "" {
		s.lines = nil
	}
}

// lineOf returns the number of the line that contains an offset.
func (s *Source) lineOf(offset int) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
}

func (s *Source) valid(line int) bool { return line >= 1 && line <= len(s.lines) }

// lineEnd returns the offset after the text of a line, without its line break.
func (s *Source) lineEnd(line int) int {
	end := len(s.text)
	if line < len(s.lines) {
		end = s.lines[line]
	}
	return s.lines[line-1] + len(strings.TrimRight(s.text[s.lines[line-1]:end], "\r\n"))
}

func (s *Source) lineText(line int) string { return s.text[s.lines[line-1]:s.lineEnd(line)] }

// indent returns the white space that a line starts with.
func (s *Source) indent(line int) string {
	text := s.lineText(line)
	return text[:len(text)-len(strings.TrimLeft(text, " \t"))]
}

// lineBreak returns the line break that the file uses.
func (s *Source) lineBreak() string {
	if strings.Contains(s.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// splice returns the text with a part replaced.
func (s *Source) splice(start, end int, text string) []byte {
	return []byte(s.text[:start] + text + s.text[end:])
}
