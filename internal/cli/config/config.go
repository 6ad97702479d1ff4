// Package config implements 'pawl config' and its subcommands, and checks configuration files.
package config

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/tool"
)

// Command returns 'pawl config' with its subcommands.
func Command() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at what pawl is configured with, and change it",
		Long: `Show every value that takes effect here, and where it comes from: what is built in,
the policy of this machine, your file, this folder's if you trust it, variables. The
flags of a command win over them, and what the policy locks holds over all.

What may be secret is not shown.`,
		Example: `  pawl config
  pawl config --json | jq '.[] | select(.layer == "user")'
  pawl config set permissions.mode guard
  pawl config check`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return showConfig(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(configGetCommand(), configSetCommand(), configUnsetCommand(), configEditCommand(), configPathCommand(),
		configSchemaCommand(), configCheckCommand(), limitsCommand(), managedCommand(), configShowCommand())
	return cmd
}

// configShowCommand returns 'pawl config show', which is the same as 'pawl config'.
func configShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show every value and where it comes from",
		Example: "  pawl config show\n  pawl config show --json",
		Args:    cli.Args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return showConfig(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "Print where your configuration is",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := config.UserFile()
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return err
		},
	}
}

func configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of your configuration, for editors",
		Example: `  pawl config schema >pawl.schema.json`,
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := config.SchemaText()
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}
}

// PrintNotice prints a note if a part of the user's configuration is ignored.
func PrintNotice(w io.Writer) {
	if _, findings, err := config.ReadUser(); err == nil && len(findings) > 0 {
		more := ""
		if n := len(findings) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		fmt.Fprintf(w, "pawl: note: %s%s; 'pawl config check' shows all\n", findings[0], more)
	}
}

func limitsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show the bounds of the tools",
		Example: `  pawl config limits
  pawl config limits --json | jq '.[] | select(.name == "BashTimeout")'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), tool.Limits)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, l := range tool.Limits {
				fmt.Fprintf(w, "%s\t%s\t%s\n", l.Name, l.Value, l.What)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
