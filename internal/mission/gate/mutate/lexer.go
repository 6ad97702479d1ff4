package mutate

import (
	"embed"
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// lexerFiles are copies of chroma's lexers; see lexers/LICENSE. The package
// chroma/v2/lexers must not be imported: it registers all lexers when the program
// starts.
//
//go:generate go test -count=1 -run ^TestLexersAreCurrent$ . -update
//go:embed lexers/*.xml
var lexerFiles embed.FS

// maxLexing bounds the time that one file takes: the expressions of a lexer can
// backtrack, and files come from untrusted changes.
const maxLexing = time.Minute

// class tells code from text that has no effect or is data.
type class byte

const (
	classCode class = iota
	classComment
	classDoc       // documentation in a string
	classDirective // directives of a preprocessor, attributes
	classString
	classChar
	classRegexp
)

// span is a part of the text of one class, as the lexer returns it.
type span struct {
	class      class
	start, end int
	keyword    bool // a word of the language, or a type that it defines
	typeName   bool // names a type of the language
	decorator  bool
}

// lexers holds the lexers that were used, by name.
var lexers sync.Map

func lexerFor(name string) (chroma.Lexer, error) {
	if l, ok := lexers.Load(name); ok {
		return l.(chroma.Lexer), nil
	}
	lexer, err := chroma.NewXMLLexer(lexerFiles, "lexers/"+name+".xml")
	if err != nil {
		return nil, err
	}
	if name == "makefile" { // its recipes are shell commands
		bash, err := chroma.NewXMLLexer(lexerFiles, "lexers/bash.xml")
		if err != nil {
			return nil, err
		}
		registry := chroma.NewLexerRegistry()
		registry.Register(bash)
		lexer.SetRegistry(registry)
	}
	l, _ := lexers.LoadOrStore(name, lexer)
	return l.(chroma.Lexer), nil
}

// spans splits a text into spans, or returns false if its lexer fails.
func spans(l *language, text string) (out []span, ok bool) {
	if l.lexer == "" {
		return goSpans(text), true
	}
	defer func() {
		if recover() != nil { // chroma panics if a lexer has a defect
			out, ok = nil, false
		}
	}()
	text = strings.ReplaceAll(text, "\r\n", " \n") // lexers know one kind of line break
	start := 0
	if l.name == "PHP" { // the lexer reads code, not the tag before it
		start = strings.Index(text, "<?php") + len("<?php")
		out = append(out, span{class: classDirective, end: start})
	}
	parts, err := chromaSpans(l, text[start:])
	for _, part := range parts {
		part.start, part.end = part.start+start, part.end+start
		out = append(out, part)
	}
	return out, err == nil
}

func chromaSpans(l *language, text string) ([]span, error) {
	lexer, err := lexerFor(l.lexer)
	if err != nil {
		return nil, err
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil, err
	}
	var out []span
	at, began := 0, time.Now()
	for t := next(); t != chroma.EOF; t = next() {
		end := min(at+len(t.Value), len(text)) // some lexers add a line break
		if text[at:end] != t.Value[:end-at] {
			return nil, fmt.Errorf("%s: the tokens are not the text", l.name)
		}
		if time.Since(began) > maxLexing {
			return nil, fmt.Errorf("%s: lexing takes longer than %s", l.name, maxLexing)
		}
		out = appendSpan(out, chromaSpan(t.Type, at, end))
		at = end
	}
	if at != len(text) {
		return nil, fmt.Errorf("%s: the lexer stopped before the end", l.name)
	}
	return out, nil
}

func chromaSpan(t chroma.TokenType, start, end int) span {
	s := span{start: start, end: end}
	switch {
	case t == chroma.CommentPreproc || t == chroma.CommentPreprocFile:
		s.class = classDirective
	case t.InCategory(chroma.Comment):
		s.class = classComment
	case t == chroma.LiteralStringDoc:
		s.class = classDoc
	case t == chroma.LiteralStringChar:
		s.class = classChar
	case t == chroma.LiteralStringRegex:
		s.class = classRegexp
	case t == chroma.LiteralStringSymbol || t == chroma.LiteralStringAtom:
	case t.InSubCategory(chroma.LiteralString):
		s.class = classString
	case t == chroma.KeywordType:
		s.typeName = true
	case t == chroma.NameDecorator:
		s.decorator = true
	case t.InCategory(chroma.Keyword) || t == chroma.OperatorWord:
		s.keyword = true
	}
	return s
}

// appendSpan adds a span and joins the parts of a string or comment.
func appendSpan(out []span, s span) []span {
	if s.start == s.end {
		return out
	}
	if n := len(out) - 1; n >= 0 && s.class != classCode && s.class != classChar && out[n].class == s.class {
		out[n].end = s.end
		return out
	}
	return append(out, s)
}

// goSpans uses Go's own scanner.
func goSpans(text string) []span {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	var out []span
	at := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" || lit == "" {
			continue
		}
		start := file.Offset(pos)
		end := goEnd(text, start, tok, lit)
		part := span{start: start, end: end, keyword: tok.IsKeyword()}
		switch tok {
		case token.COMMENT:
			part.class = classComment
		case token.STRING:
			part.class = classString
		case token.CHAR:
			part.class = classChar
		}
		if at < start {
			out = append(out, span{start: at, end: start})
		}
		if start >= at && end > start {
			out = append(out, part)
			at = end
		}
	}
	if at < len(text) {
		out = append(out, span{start: at, end: len(text)})
	}
	return out
}

// goEnd returns where a token ends. The scanner removes carriage returns from raw
// strings and comments.
func goEnd(text string, start int, tok token.Token, lit string) int {
	end := start
	for i := 0; i < len(lit) && end < len(text); end++ {
		if text[end] == lit[i] {
			i++
		} else if text[end] != '\r' {
			break
		}
	}
	if tok == token.COMMENT || tok == token.STRING {
		return end
	}
	return min(start+len(lit), len(text))
}
