// Command pawl is a coding agent that only moves forward.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

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
	cmd.AddCommand(runCommand(), reviewCommand(), gateCommand(), missionCommand(), resumeCommand(), serveCommand(), workerCommand(), fleetCommand(), tokenCommand(), tenantCommand(), acpCommand(), sessionCommand(), statsCommand(), gcCommand(), modelsCommand(), authCommand(), permissionsCommand(), configCommand(), hooksCommand(), mcpCommand(), trustCommand(), sandboxCommand(), doctorCommand(), promptCommand(), agentsCommand(), commandsCommand(), skillsCommand(), versionCommand())
	return cmd
}
