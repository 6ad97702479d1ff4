package policy

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// baseVariable is the environment variable with the project directory at the base commit
// of a mission, for hooks that run in a worktree.
const baseVariable = "PAWL_BASE_DIR"

const wordPattern = "[^\\s'\"$;|&<>(){}=`]+"

var (
	projectWord = regexp.MustCompile(`(\$(?:CLAUDE|PAWL)_PROJECT_DIR|\$\{(?:CLAUDE|PAWL)_PROJECT_DIR\})("?/)(` + wordPattern + `)`)
	commandWord = regexp.MustCompile(`(^|[\s'";|&(])(` + wordPattern + `)`)
	interpreter = regexp.MustCompile(`^(?:sh|bash|dash|zsh|ksh|fish|python[0-9.]*|node|deno|bun|ruby|perl|php|lua|pwsh|tsx|ts-node|source|\.)$`)
)

// useBase makes a hook run the scripts of the base commit: those in the worktree are
// written by the worker that the hook guards.
func useBase(x *hook.External, base string) {
	if len(x.Args) > 0 {
		x.Args = baseArgs(x.Args, base)
		return
	}
	x.Command = baseCommand(x.Command, base)
}

// baseArgs is useBase for a program and its arguments.
func baseArgs(args []string, base string) []string {
	args = slices.Clone(args)
	last := ""
	for i, arg := range args {
		if m := projectWord.FindStringSubmatch(arg); m != nil && m[0] == arg && isFile(base, m[3]) {
			args[i] = filepath.Join(base, m[3])
		} else if isScript(base, arg, last) {
			args[i] = filepath.Join(base, arg)
		}
		if !strings.HasPrefix(arg, "-") {
			last = filepath.Base(arg)
		}
	}
	return args
}

// baseCommand is useBase for a command line.
func baseCommand(line, base string) string {
	line = projectWord.ReplaceAllStringFunc(line, func(text string) string {
		m := projectWord.FindStringSubmatch(text)
		if !isFile(base, m[3]) {
			return text
		}
		return "${" + baseVariable + "}" + m[2] + m[3]
	})
	last := ""
	return commandWord.ReplaceAllStringFunc(line, func(text string) string {
		m := commandWord.FindStringSubmatch(text)
		before, word := m[1], m[2]
		if isScript(base, word, last) {
			text = before + `"${` + baseVariable + `}"/` + word
			if before == `"` || before == "'" {
				text = before + "${" + baseVariable + "}/" + word
			}
		}
		if !strings.HasPrefix(word, "-") {
			last = filepath.Base(word)
		}
		return text
	})
}

// isFile reports whether a path, which may be relative, is a file of the base commit.
func isFile(base, name string) bool {
	if !filepath.IsLocal(name) {
		return false
	}
	info, err := os.Stat(filepath.Join(base, name))
	return err == nil && info.Mode().IsRegular()
}

// isScript reports whether a word of a command is a file of the base commit that the
// command runs, after the word last. Other files are what the command is about.
func isScript(base, name, last string) bool {
	if !isFile(base, name) {
		return false
	}
	path := filepath.Join(base, name)
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(name)), "/")
	if interpreter.MatchString(last) || trust.IsAgentDir(first) {
		return true
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o111 != 0 {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	start := make([]byte, 2)
	_, err = io.ReadFull(f, start)
	return err == nil && bytes.Equal(start, []byte("#!"))
}
