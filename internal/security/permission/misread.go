package permission

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// misread says what in a command line the parser and bash do not read alike, or
// "". All of it was found by running lines in both; what bash would run must not
// pass for a text.
func misread(file *syntax.File, command string) string {
	if mereDollar.MatchString(command) {
		return "what is behind a $ may be one thing or another"
	}
	why := misreadHash(file, command)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ExtGlob: // @(…): the parser does not look into it
			if n.Pattern != nil && strings.ContainsAny(n.Pattern.Value, "$`<>") {
				why = "a pattern for file names may hold a command"
			}
		case *syntax.ParamExp: // ${x/a/<(…)}: nor here
			if from, to := n.Pos().Offset(), n.End().Offset(); from < to && to <= uint(len(command)) && substitutes(command[from:to]) {
				why = "an expansion may hold a command"
			}
		}
		return why == ""
	})
	return why
}

// mereDollar finds what the parser takes for a $ and no more. To bash a line's
// end before a bracket is not there, and <( begins a substitution.
var mereDollar = regexp.MustCompile(`\$(\\\n|[<>]+\()`)

func substitutes(text string) bool {
	return strings.Contains(text, "<(") || strings.Contains(text, ">(")
}

// misreadHash looks for a # that begins a comment for one of them only, and for
// a comment whose last character is a backslash: the parser takes the next line
// for more words, bash for a command.
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
				return "a # stands where it may begin a comment, or not"
			}
			break // the rest is the comment
		}
		start += len(line)
	}
	return ""
}

// hashesInWords tells which bytes are in a word, where a # is no comment.
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

// hasSubstitution reports whether commands stand below a node.
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
