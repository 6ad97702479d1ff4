package mission

import (
	"fmt"
	"os"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// splitCommand splits a command into the program and its arguments, as a shell does. It accepts quotes and variables, but
// nothing that needs a shell.
func splitCommand(line string) ([]string, error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("--check %q: %w", line, err)
	}
	if len(file.Stmts) != 1 {
		return nil, fmt.Errorf("--check %q: give one command", line)
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs)+len(call.Assigns) > 0 || s.Negated || s.Background {
		return nil, fmt.Errorf("--check %q needs a shell: use sh -c '…'", line)
	}
	args, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(os.Getenv)}, call.Args...)
	if err != nil {
		return nil, fmt.Errorf("--check %q: %w", line, err)
	}
	return args, nil
}
