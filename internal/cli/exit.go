// Package cli has what pawl's commands share: output, terminals, exit codes and the
// App that they work with. The commands are in the packages below it, one for each
// family.
package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// The exit codes that scripts rely on.
const (
	ExitFailed   = 1
	ExitUsage    = 2
	ExitDenied   = 3
	ExitLimit    = 4
	ExitModel    = 5
	ExitCanceled = 130
)

// ExitError ends the program with Code. It prints Err, or nothing if Err is nil.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of Err.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// TurnError returns the end of a turn as an ExitError, or nil if it ended normally.
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
	text := string(f.Reason)
	if f.Message != "" {
		text = f.Message
	}
	return &ExitError{Code: code, Err: errors.New(text)}
}

// UsageError returns err as a usage error that points to the help of cmd.
func UsageError(cmd *cobra.Command, err error) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath())}
}

// Args makes a wrong number of arguments a usage error.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return UsageError(cmd, err)
		}
		return nil
	}
}

// ExitGate is the exit code of a gate or review that did not pass.
const ExitGate = 6
