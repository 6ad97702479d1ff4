// Package cli contains the code that pawl's commands share: output, terminals, exit codes and
// opening the App. The commands are in its subdirectories, one package for each group.
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

// Args returns check with its errors turned into usage errors.
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
