// Package extension implements the commands for extensions: 'pawl extensions', 'pawl agents' and
// 'pawl skills'.
package extension

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Command returns 'pawl extensions' with its subcommand.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "extensions",
		Short: "List extensions and whether they are active",
		Long: `List agents, commands, skills, hooks, MCP servers, rules and language servers: where
each comes from, and whether it is active.`,
		Example: `  pawl extensions list
  pawl extensions list skills`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(listCommand())
	return cmd
}

// listFlags are the flags of the commands that list extensions.
type listFlags struct{ asJSON, all bool }

func (f *listFlags) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

func listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [kind]",
		Short: "List extensions of all kinds, or of one",
		Long: `List the extensions of this directory, where each comes from, and whether it is
active. For an inactive extension, print the reason. Listing runs nothing.

The kinds are agents, commands, skills, hooks, mcp (MCP servers), rules (AGENTS.md) and
lsp (language servers).`,
		Example: `  pawl extensions list
  pawl extensions list hooks --all
  pawl extensions list skills --json`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := strings.Join(args, "")
			if kind != "" && !slices.Contains(inventory.Kinds, kind) {
				return cli.UsageError(cmd, cli.Unknown("kind", kind, inventory.Kinds))
			}
			return f.list(cmd, kind)
		},
	}
	f.addJSON(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "include Pawl's built-in hooks")
	return cmd
}

// list prints the extensions of a kind, or of all kinds if kind is "".
func (f *listFlags) list(cmd *cobra.Command, kind string) error {
	v, err := inventory.TakeHere(cmd.Context())
	if err != nil {
		return err
	}
	if v = v.Of(kind); !f.all {
		v = v.WithoutInternal()
	}
	if f.asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), v)
	}
	return printInventory(cmd.OutOrStdout(), v, kind)
}

// maxName is how many characters of a name or a description are printed.
const maxName = 60

// printInventory prints a table of the extensions, their problems, and how to activate the inactive
// ones.
func printInventory(w io.Writer, v *inventory.Inventory, kind string) error {
	if len(v.Items) == 0 {
		fmt.Fprintln(w, "No extensions found")
	} else if err := printItems(w, v.Items, kind); err != nil {
		return err
	}
	var problems []string
	for _, i := range v.Items {
		for _, warning := range i.Warnings {
			problems = append(problems, i.File+": "+warning)
		}
	}
	for _, f := range v.Faults {
		problems = append(problems, f.Text)
	}
	if v.ProjectErr != nil {
		problems = append(problems, v.ProjectErr.Error())
	}
	if len(problems) > 0 {
		fmt.Fprintln(w, "\nProblems:")
	}
	for _, p := range problems {
		fmt.Fprintf(w, "  %s\n", sanitize.Line(p))
	}
	if fixes := v.Fixes(); len(fixes) > 0 {
		fmt.Fprintln(w, "\nTo review the project configuration and activate it, run:")
		for _, fix := range fixes {
			fmt.Fprintf(w, "  %s\n", sanitize.Line(fix))
		}
	}
	return nil
}

// printItems prints the columns KIND, unless kind says it, and DESCRIPTION, if kind is set.
func printItems(w io.Writer, items []inventory.Item, kind string) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	row := func(kindOf, name, source, status, file, description string) {
		cells := []string{kindOf, name, source, status, file}
		if kind != "" {
			cells = append(cells[1:], description)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	row("KIND", "NAME", "SOURCE", "STATUS", "FILE", "DESCRIPTION")
	for _, i := range items {
		status := "active"
		if !i.Active {
			status = "inactive: " + sanitize.Line(i.Reason)
		}
		row(i.Kind, humanize.FirstLine(i.Name, maxName), i.Source, status, sanitize.Line(i.File), humanize.FirstLine(i.Description, maxName))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
