package discover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is a simple command of a shell script.
type command struct {
	env    []string // assignments before it
	args   []string
	source []string // args as they are written
	static bool     // the shell passes args and env as they are: nothing is expanded
}

// parseCommands returns the simple commands of a shell script, in the order of their text. It returns false if the script
// cannot be parsed.
func parseCommands(text string) (list []command, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		if len(call.Args) > 0 {
			list = append(list, readCommand(text, call))
		}
		return false // commands in substitutions are part of the command
	})
	return list, true
}

func readCommand(text string, call *syntax.CallExpr) command {
	c := command{static: true}
	for _, a := range call.Assigns {
		value, static := "", a.Value == nil
		if a.Value != nil {
			value, static = literal(a.Value)
		}
		c.static = c.static && static && a.Array == nil && a.Index == nil
		if a.Name != nil {
			c.env = append(c.env, a.Name.Value+"="+value)
		}
	}
	for _, w := range call.Args {
		value, static := literal(w)
		c.static = c.static && static
		c.args, c.source = append(c.args, value), append(c.source, text[w.Pos().Offset():w.End().Offset()])
	}
	return c
}

// literal returns the text of a word, and whether the shell would leave it as it is.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	static := true
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			static = static && !strings.ContainsAny(p.Value, `*?[{~\`)
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			static = static && !p.Dollar
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if static = static && ok && !strings.Contains(lit.Value, `\`); ok {
					b.WriteString(lit.Value)
				}
			}
		default:
			static = false
		}
	}
	return b.String(), static
}

// wrapper matches programs that run the command after them.
var wrapper = regexp.MustCompile(`^(cross-env|cross-env-shell|env|c8|nyc|time|exec|command|npx|dotenv|dotenvx)$`)

// unwrap removes wrappers, so that the first word is the program that matters.
func (c command) unwrap() command {
	for len(c.args) > 1 && wrapper.MatchString(c.args[0]) {
		c.args, c.source = c.args[1:], c.source[1:]
		for len(c.args) > 1 && (strings.HasPrefix(c.args[0], "-") || strings.Contains(c.args[0], "=")) {
			if !strings.HasPrefix(c.args[0], "-") {
				c.env = append(slices.Clone(c.env), c.args[0])
			}
			c.args, c.source = c.args[1:], c.source[1:]
		}
	}
	return c
}

// program returns the name of the program.
func (c command) program() string { return path.Base(c.unwrap().args[0]) }

// quote quotes a word for a shell.
func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n\"'\\$`|&;<>()*?[]{}~#!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
