package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed bash.md
var bashDescription string

type bashInput struct {
	Command     string `json:"command" jsonschema:"the command line"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"seconds, 120 if left out, at most 600"`
	Workdir     string `json:"workdir,omitempty" jsonschema:"folder in the workspace to run in"`
	Description string `json:"description,omitempty" jsonschema:"what it does, in a few words, for people"`
}

var errBashTimeout = errors.New("timeout")

// Bash runs a command line in a fresh, non-interactive shell.
func Bash() pawl.Tool {
	return define(definition[bashInput]{
		name:        "bash",
		description: bashDescription,
		risk:        pawl.RiskDangerous,
		access: func(call pawl.Call, in bashInput) ([]pawl.Access, error) {
			if strings.TrimSpace(in.Command) == "" {
				return nil, errors.New("command is empty")
			}
			if in.Timeout < 0 || in.Timeout > int(BashMaxTimeout.Seconds()) {
				return nil, fmt.Errorf("timeout must be between 0 and %.0f seconds", BashMaxTimeout.Seconds())
			}
			if _, err := in.dir(call); err != nil {
				return nil, err
			}
			return []pawl.Access{{Kind: pawl.AccessExec, Target: in.Command}}, nil
		},
		run: runBash,
	})
}

func (in bashInput) dir(call pawl.Call) (string, error) {
	if in.Workdir == "" {
		return call.Dir, nil
	}
	rel, err := workspace.Rel(call.Dir, in.Workdir)
	return filepath.Join(call.Dir, rel), err
}

func (in bashInput) timeout() time.Duration {
	if in.Timeout == 0 {
		return BashTimeout
	}
	return time.Duration(in.Timeout) * time.Second
}

func runBash(ctx context.Context, call pawl.Call, in bashInput) (pawl.Result, error) {
	dir, err := in.dir(call)
	if err != nil {
		return pawl.Result{}, err
	}
	timeout := in.timeout()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errBashTimeout)
	defer cancel()

	out := &output{limit: BashBytes, progress: call.Progress}
	exit, err := proc.Run(ctx, proc.Command{
		Args:   []string{"bash", "--noprofile", "--norc", "-c", in.Command},
		Dir:    dir,
		Output: out,
	})
	result := pawl.Result{
		Content: out.String(),
		IsError: err != nil || exit.Code != 0,
		Meta: map[string]string{
			"exit_code":   strconv.Itoa(exit.Code),
			"duration_ms": strconv.FormatInt(exit.Duration.Milliseconds(), 10),
		},
	}
	var note string
	switch {
	case errors.Is(err, errBashTimeout):
		note = fmt.Sprintf("killed: it ran longer than %s", timeout)
		result.Meta["timeout"] = "true"
	case err != nil && ctx.Err() != nil:
		return result, context.Cause(ctx)
	case err != nil:
		return pawl.Result{}, err
	case exit.Signal != "":
		note = "ended by signal: " + exit.Signal
		result.Meta["signal"] = exit.Signal
	case exit.Code != 0:
		note = fmt.Sprintf("exit code %d", exit.Code)
	case result.Content == "":
		note = "done, no output"
	}
	if note != "" {
		if result.Content = strings.TrimRight(result.Content, "\n"); result.Content != "" {
			result.Content += "\n"
		}
		result.Content += "(" + note + ")"
	}
	return result, nil
}
