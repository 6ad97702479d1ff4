package cli

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// TestArgs checks that errors about arguments are usage errors in plain words, with a hint.
func TestArgs(t *testing.T) {
	t.Parallel()
	group := &cobra.Command{Use: "pawl"}
	leaf := &cobra.Command{Use: "show", Run: func(*cobra.Command, []string) {}}
	group.AddCommand(leaf)
	for _, c := range []struct {
		cmd   *cobra.Command
		check cobra.PositionalArgs
		args  []string
		want  string
	}{
		{leaf, cobra.ExactArgs(1), nil, "accepts 1 argument, received 0. Run `pawl show --help` for usage."},
		{leaf, cobra.MinimumNArgs(2), []string{"a"}, "requires at least 2 arguments, only received 1. Run `pawl show --help` for usage."},
		{leaf, cobra.NoArgs, []string{"a"}, "unexpected argument \"a\". Run `pawl show --help` for usage."},
		{group, cobra.NoArgs, []string{"shw"}, "unknown command \"shw\" for \"pawl\". Run `pawl --help` for usage."},
	} {
		err := Args(c.check)(c.cmd, c.args)
		var exit *ExitError
		if !errors.As(err, &exit) || exit.Code != ExitUsage || fault.Text(exit.Err) != c.want {
			t.Errorf("%q: got %v, want %q", c.args, err, c.want)
		}
	}
	if err := Args(cobra.NoArgs)(leaf, nil); err != nil {
		t.Error(err)
	}
}

// TestUsageErrorHint checks that a usage error keeps the hint of its cause.
func TestUsageErrorHint(t *testing.T) {
	t.Parallel()
	var exit *ExitError
	err := UsageError(&cobra.Command{Use: "pawl"}, fault.New(pawl.ErrInvalid, "no prompt given").Hint("Pass one."))
	if !errors.As(err, &exit) || fault.Text(exit.Err) != "no prompt given. Pass one." {
		t.Errorf("got %v", err)
	}
}

// TestTurnError checks the exit codes and texts of turns that did not end normally.
func TestTurnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end  pawl.TurnFinished
		code int
		text string
	}{
		{pawl.TurnFinished{Reason: pawl.ReasonEndTurn}, 0, ""},
		{pawl.TurnFinished{Reason: pawl.ReasonMaxSteps}, ExitLimit, "step limit reached"},
		{pawl.TurnFinished{Reason: "other"}, ExitFailed, "other"},
		{pawl.TurnFinished{Reason: "other", Message: "why"}, ExitFailed, "why"},
		{pawl.TurnFinished{Reason: pawl.ReasonPermissionDenied}, ExitDenied, "permission denied"},
		{pawl.TurnFinished{Reason: pawl.ReasonCanceled}, ExitCanceled, "canceled"},
		{pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: "overloaded"}, ExitModel, "overloaded"},
		{pawl.TurnFinished{Reason: "new"}, ExitFailed, "new"},
	} {
		code, text := 0, ""
		var exit *ExitError
		if err := TurnError(c.end); errors.As(err, &exit) {
			code, text = exit.Code, exit.Error()
		}
		if code != c.code || text != c.text {
			t.Errorf("%s: got %d, %q; want %d, %q", c.end.Reason, code, text, c.code, c.text)
		}
	}
}
