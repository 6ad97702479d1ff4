// Package root assembles the commands of pawl and runs them.
package root

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/acp"
	"github.com/pawl-dev/pawl/internal/cli/auth"
	"github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/cli/doctor"
	"github.com/pawl-dev/pawl/internal/cli/extension"
	"github.com/pawl-dev/pawl/internal/cli/gate"
	"github.com/pawl-dev/pawl/internal/cli/gc"
	"github.com/pawl-dev/pawl/internal/cli/mcp"
	"github.com/pawl-dev/pawl/internal/cli/mission"
	"github.com/pawl-dev/pawl/internal/cli/run"
	"github.com/pawl-dev/pawl/internal/cli/security"
	"github.com/pawl-dev/pawl/internal/cli/serve"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/cli/stats"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Main runs pawl and returns its exit code.
func Main() int { return Run(Command()) }

// Run runs a root command and returns the exit code of the program. Control sequences are removed
// from its output, and known secrets are masked.
func Run(cmd *cobra.Command) int {
	err := proc.Protect()
	app.Secrets.AddEnv(os.Environ())
	stdout, stderr := cli.NewScreen(os.Stdout), cli.NewScreen(os.Stderr)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err == nil {
		var ran *cobra.Command
		if ran, err = cmd.ExecuteC(); err != nil {
			err = flagGroupError(ran, err)
		}
	}
	code := report(stderr, err)
	if err := errors.Join(stdout.Flush(), stderr.Flush()); err != nil && code == 0 {
		code = cli.ExitFailed
	}
	return code
}

// report prints an error, with secrets masked, and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var exit *cli.ExitError
	if !errors.As(err, &exit) {
		exit = &cli.ExitError{Code: cli.ExitFailed, Err: err}
	}
	if exit.Err != nil {
		fmt.Fprintf(w, "pawl: %s\n", app.Secrets.Redact(fault.Text(exit.Err)))
	}
	return exit.Code
}

// New returns a root command without subcommands, except the one for the version.
func New(name, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Version: version(),
		SilenceUsage: true, SilenceErrors: true,
		Args: cli.Args(cobra.NoArgs),
	}
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetUsageTemplate(usageTemplate)
	cmd.SetHelpTemplate(helpTemplate)
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	cmd.AddCommand(versionCommand())
	return cmd
}

// Finish completes a root command after all its subcommands were added.
func Finish(cmd *cobra.Command) *cobra.Command {
	cmd.AddCommand(completionCommand(cmd.Name()))
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultVersionFlag()
	suggestSubcommands(cmd)
	addCompletions(cmd)
	return cmd
}

// Command returns the root command of pawl with all its subcommands. Without a subcommand it starts
// the terminal UI.
func Command() *cobra.Command {
	cmd := newPrompt()
	addGroup(cmd, "Work", run.Command(), run.ResumeCommand(), gate.ReviewCommand())
	addGroup(cmd, "Sessions", session.Command(), stats.Command())
	addGroup(cmd, "Missions and verification", mission.Command(), gate.Command())
	addGroup(cmd, "Extensions", extension.Command(), extension.AgentsCommand(), extension.SkillsCommand(), mcp.Command())
	addGroup(cmd, "Configuration", auth.Command(), auth.ModelsCommand(), config.Command(), security.PermissionsCommand(), security.TrustCommand(),
		security.SandboxCommand(), doctor.Command(), gc.Command())
	addGroup(cmd, "Server and fleet", serve.Command(nil), serve.TokenCommand(), serve.TenantCommand(), acp.Command())
	cmd.SetHelpCommand(helpCommand(topics))
	return Finish(cmd)
}
