package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// The exit codes that scripts rely on.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitDenied   = 3
	exitLimit    = 4
	exitModel    = 5
	exitCanceled = 130
)

// exitError ends the program with a code; without err it does so silently.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitOf maps the end of a turn to an exit code.
func exitOf(f pawl.TurnFinished) error {
	code := exitFailed
	switch f.Reason {
	case pawl.ReasonEndTurn:
		return nil
	case pawl.ReasonPermissionDenied:
		code = exitDenied
	case pawl.ReasonBudget, pawl.ReasonMaxSteps, pawl.ReasonMaxTokens, pawl.ReasonLoop:
		code = exitLimit
	case pawl.ReasonCanceled:
		code = exitCanceled
	case pawl.ReasonError:
		if f.Fault == pawl.FaultModel {
			code = exitModel
		}
	}
	text := string(f.Reason)
	if f.Message != "" {
		text = f.Message
	}
	return &exitError{code: code, err: errors.New(text)}
}

func usageError(cmd *cobra.Command, err error) error {
	return &exitError{code: exitUsage, err: fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath())}
}

// usage makes a wrong number of arguments a usage error.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(cmd, err)
		}
		return nil
	}
}

// exitGate: what was found keeps the change from going on.
const exitGate = 6
