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
		Short: "Show and change the configuration",
		Long: `Show every effective setting of this directory and where it comes from: the
built-in defaults, the managed policy of this machine, your configuration file, the
project configuration if you trust it, and environment variables. Flags override all
of them, except for what the managed policy enforces.

Values that may be secret are masked.`,
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
		Short: "Print the path of your configuration file",
		Example: `  pawl config path
  cat "$(pawl config path)"`,
		Args: cli.Args(cobra.NoArgs),
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
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration file",
		Example: `  pawl config schema
  pawl config schema >pawl.schema.json   # for your editor`,
		Args: cli.Args(cobra.NoArgs),
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
		fmt.Fprintf(w, "pawl: note: %s%s (run `pawl config check` to see all problems)\n", findings[0], more)
	}
}

func limitsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show the limits of the tools",
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
