package permission

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// misread returns what the parser and bash parse differently in a command line, or
// "". The cases were found by running lines in both: what bash would run must not
// be taken for text.
func misread(file *syntax.File, command string) string {
	if mereDollar.MatchString(command) {
		return "the text after a $ is ambiguous"
	}
	why := misreadHash(file, command)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ExtGlob: // @(…): the parser does not look into it
			if n.Pattern != nil && strings.ContainsAny(n.Pattern.Value, "$`<>") {
				why = "a file name pattern may contain a command"
			}
		case *syntax.ParamExp: // ${x/a/<(…)}: nor here
			if from, to := n.Pos().Offset(), n.End().Offset(); from < to && to <= uint(len(command)) && substitutes(command[from:to]) {
				why = "an expansion may contain a command"
			}
		}
		return why == ""
	})
	return why
}

// mereDollar matches what the parser takes for a literal $, while bash ignores the
// escaped line end and sees a substitution.
var mereDollar = regexp.MustCompile(`\$(\\\n|[<>]+\()`)

func substitutes(text string) bool {
	return strings.Contains(text, "<(") || strings.Contains(text, ">(")
}

// misreadHash detects a # that begins a comment for only one of the two, and a
// comment that ends with a backslash: the parser continues the comment's line, bash
// runs the next line as a command.
//
//	ls # \
//	touch x
//	a=(1)#; touch x
func misreadHash(file *syntax.File, command string) string {
	if !strings.Contains(command, "#") {
		return ""
	}
	inWord := hashesInWords(file, command)
	start := 0
	for line := range strings.Lines(command) {
		for i := range len(line) {
			if line[i] != '#' || inWord[start+i] {
				continue
			}
			if strings.HasSuffix(line, "\\\n") {
				return "a comment ends with a backslash, which hides the line after it"
			}
			if before := start + i - 1; before >= 0 && !strings.Contains(" \t\n;&|(<>`", command[before:before+1]) {
				return "a # may or may not start a comment"
			}
			break // the rest is the comment
		}
		start += len(line)
	}
	return ""
}

// hashesInWords tells which bytes are within a word, where a # begins no comment.
func hashesInWords(file *syntax.File, command string) []bool {
	in := make([]bool, len(command))
	mark := func(from, to syntax.Pos) {
		for i := from.Offset(); i < min(to.Offset(), uint(len(in))); i++ {
			in[i] = true
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			mark(n.Pos(), n.End())
		case *syntax.ParamExp: // ${x#y}, where y may hold commands, and so comments
			if n.Exp != nil && n.Exp.Word != nil {
				mark(n.Pos(), n.Exp.Word.Pos())
			} else if !hasSubstitution(n) {
				mark(n.Pos(), n.End())
			}
		}
		return true
	})
	return in
}

// hasSubstitution reports whether there is a command substitution below a node.
func hasSubstitution(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}
