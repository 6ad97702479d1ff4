// Command pawl is a coding agent that only moves forward.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// version is set by the release build.
var version = "dev"

func main() {
	secrets.AddEnv(os.Environ())
	stdout, stderr := newScreen(os.Stdout), newScreen(os.Stderr)
	cmd := root()
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	code := report(stderr, cmd.Execute())
	if err := errors.Join(stdout.Flush(), stderr.Flush()); err != nil && code == 0 {
		code = exitFailed
	}
	if code != 0 {
		os.Exit(code)
	}
}

// report says what went wrong, if anything, and returns the program's exit code.
// The text may hold what a provider or a command said.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{code: exitFailed, err: err}
	}
	if exit.err != nil {
		fmt.Fprintf(w, "pawl: %s\n", secrets.Redact(exit.err.Error()))
	}
	return exit.code
}

func root() *cobra.Command {
	var f tuiFlags
	cmd := &cobra.Command{
		Use:           "pawl",
		Short:         "A coding agent that only moves forward",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err) })
	cmd.AddCommand(runCommand(), reviewCommand(), gateCommand(), missionCommand(), resumeCommand(), serveCommand(), workerCommand(), fleetCommand(), tokenCommand(), tenantCommand(), acpCommand(), sessionCommand(), statsCommand(), gcCommand(), modelsCommand(), authCommand(), permissionsCommand(), configCommand(), hooksCommand(), mcpCommand(), trustCommand(), sandboxCommand(), doctorCommand(), promptCommand(), agentsCommand(), commandsCommand(), skillsCommand(), devCommand(), versionCommand())
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  usage(cobra.NoArgs),
		Run: func(cmd *cobra.Command, _ []string) {
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = " " + s.Value[:min(12, len(s.Value))]
					}
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "pawl %s%s %s/%s %s\n", version, revision, runtime.GOOS, runtime.GOARCH, runtime.Version())
		},
	}
}

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
