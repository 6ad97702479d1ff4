// Package cli contains the code that pawl's commands share: output, terminals, exit codes and
// opening the App. The commands are in its subdirectories, one package for each group.
package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// The exit codes that scripts rely on.
const (
	ExitFailed   = 1
	ExitUsage    = 2
	ExitDenied   = 3
	ExitLimit    = 4
	ExitModel    = 5
	ExitGate     = 6 // a gate or review did not pass
	ExitCanceled = 130
)

// ExitError makes the program exit with Code. Err is printed unless it is nil.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of Err or, if Err is nil, the exit code.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// TurnError returns an ExitError for a turn that did not end normally, or nil.
func TurnError(f pawl.TurnFinished) error {
	code := ExitFailed
	switch f.Reason {
	case pawl.ReasonEndTurn:
		return nil
	case pawl.ReasonPermissionDenied:
		code = ExitDenied
	case pawl.ReasonBudget, pawl.ReasonMaxSteps, pawl.ReasonMaxTokens, pawl.ReasonLoop:
		code = ExitLimit
	case pawl.ReasonCanceled:
		code = ExitCanceled
	case pawl.ReasonError:
		if f.Fault == pawl.FaultModel {
			code = ExitModel
		}
	}
	err := turnEnds[f.Reason]
	if err == nil {
		err = fault.New(nil, "%s", f.Reason)
	}
	if f.Message != "" {
		hint := fault.HintOf(err)
		err = fault.New(nil, "%s", f.Message)
		err = err.Hint("%s", hint)
	}
	return &ExitError{Code: code, Err: err}
}

// turnEnds are the errors of turns that did not end normally.
var turnEnds = map[pawl.Reason]*fault.Error{
	pawl.ReasonMaxSteps:         fault.New(nil, "step limit reached").Hint("Run `pawl run -c \"continue\"` with a higher --max-steps to continue."),
	pawl.ReasonBudget:           fault.New(nil, "budget used up").Hint("Run `pawl run -c \"continue\"` with a higher limit to continue, for example --max-cost 5."),
	pawl.ReasonMaxTokens:        fault.New(nil, "the reply reached the model's output limit").Hint("Run `pawl run -c \"continue\"` to continue."),
	pawl.ReasonLoop:             fault.New(nil, "the model repeated itself").Hint("Run `pawl run -c` with a prompt that says what to do instead."),
	pawl.ReasonPermissionDenied: fault.New(nil, "permission denied").Hint("Run `pawl help modes` to see which mode allows it."),
	pawl.ReasonCanceled:         fault.New(nil, "canceled"),
	pawl.ReasonError:            fault.New(nil, "the turn failed"),
}

// UsageError returns err as a usage error. Unless err has a hint, the hint is to run cmd with --help.
func UsageError(cmd *cobra.Command, err error) error {
	if fault.HintOf(err) == "" {
		err = fault.New(pawl.ErrInvalid, "%w", err).Hint("Run `%s --help` for usage.", cmd.CommandPath())
	}
	return &ExitError{Code: ExitUsage, Err: err}
}

// Args returns check with its errors turned into usage errors.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		switch {
		case err == nil:
			return nil
		case len(args) > 0 && !cmd.HasSubCommands() && strings.HasPrefix(err.Error(), "unknown command"):
			err = fmt.Errorf("unexpected argument %q", args[0])
		default:
			err = errors.New(argCount.ReplaceAllStringFunc(err.Error(), func(text string) string {
				n, _ := strconv.Atoi(strings.TrimSuffix(text, " arg(s)"))
				return humanize.Plural(n, "argument")
			}))
		}
		return UsageError(cmd, err)
	}
}

// argCount matches a number of arguments in cobra's errors.
var argCount = regexp.MustCompile(`\d+ arg\(s\)`)
