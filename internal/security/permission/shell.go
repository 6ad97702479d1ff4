package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

const (
	// maxCommand bounds a command line, in bytes: Linux allows no longer argument.
	maxCommand = 128 << 10
	// maxNesting bounds the depth of brackets.
	maxNesting = 500
)

// Segment is one simple command of a command line, or a part around commands: the
// head of a loop, a redirect.
type Segment struct {
	Text   string   `json:"text"`             // as written
	Dir    string   `json:"dir,omitempty"`    // where it runs, as far as each cd before it can be read; "" is where the line starts, "?" is unknown
	Writes []string `json:"writes,omitempty"` // the files that it is redirected into
	Doubts []string `json:"doubts,omitempty"` // why its text does not determine what runs, or changes the meaning of other text; empty if it is literal

	words   []word
	stdin   []string // texts that it is given to read
	deletes bool     // it runs a program that deletes files
}

// Literal reports whether the text alone determines what will run, without expansion. Rules can only allow literal
// segments.
func (s Segment) Literal() bool {
	return len(s.words) > 0 && len(s.Doubts) == 0
}

func (s *Segment) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Doubts, text) {
		s.Doubts = append(s.Doubts, text)
	}
}

// script is a parsed command line.
type script struct {
	segments []Segment
	dirs     []string // where its commands may run: the start, "", and what each cd names
}

// parse returns the simple commands of a bash command line in the order of the
// text, including those within substitutions and compound commands. Text that
// bash and the parser may parse differently is an error.
func parse(command string) (s script, err error) {
	defer func() {
		if v := recover(); v != nil { // a bug of ours or of the parser, on untrusted text
			s, err = script{}, fmt.Errorf("the command cannot be parsed: %v", v)
		}
	}()
	return read(command)
}

func read(command string) (script, error) {
	if err := checkText(command); err != nil {
		return script{}, err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return script{}, fmt.Errorf("the command cannot be parsed: %w", err)
	}
	if why := misread(file, command); why != "" {
		return script{}, fmt.Errorf("the command cannot be parsed: %s", why)
	}
	return collect(file, command)
}

// collect walks the syntax tree of a command line.
func collect(file *syntax.File, command string) (script, error) {
	w := walker{wordReader: wordReader{src: command}, dirs: []string{""}}
	w.stmts(file.Stmts)
	if w.calls != countCalls(file) {
		return script{}, errors.New("the command cannot be parsed: a part was not analyzed")
	}
	if strange := sanitize.FirstStrange(command); strange != "" {
		for i := range w.segments {
			w.segments[i].doubt("an invisible character: %s", strange)
		}
	}
	return script{segments: w.segments, dirs: w.dirs}, nil
}

// checkText rejects text that bash and the parser would parse differently, or that
// takes long to parse.
func checkText(command string) error {
	switch {
	case strings.TrimSpace(command) == "":
		return errors.New("the command is empty")
	case len(command) > maxCommand:
		return fmt.Errorf("the command is too long (%d bytes, the limit is %d)", len(command), maxCommand)
	case strings.ContainsAny(command, "\x00\r"):
		return errors.New("the command cannot be parsed: it contains a NUL byte or a carriage return")
	case !utf8.ValidString(command):
		return errors.New("the command cannot be parsed: it is not UTF-8")
	}
	depth := 0
	for i := range len(command) {
		switch command[i] {
		case '(', '{', '[':
			if depth++; depth > maxNesting {
				return fmt.Errorf("the command cannot be parsed: more than %d brackets are nested", maxNesting)
			}
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// countCalls counts the simple commands of a tree independently of the walker, as
// a check that it misses none.
func countCalls(file *syntax.File) int {
	n := 0
	syntax.Walk(file, func(node syntax.Node) bool {
		if _, ok := node.(*syntax.CallExpr); ok {
			n++
		}
		return true
	})
	return n
}
