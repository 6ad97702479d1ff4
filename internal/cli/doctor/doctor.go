// Package doctor implements the command 'pawl doctor', which runs checks and lists the
// extensions.
package doctor

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/inventory"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The statuses of a check.
const (
	OK   = "ok"
	Warn = "warn" // pawl works with limitations
	Fail = "fail" // pawl does not work
)

// Finding is the result of one check.
type Finding struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Command returns 'pawl doctor'.
func Command() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what pawl needs, and list what it has picked up here",
		Long: `Check what pawl needs on this machine and in this folder: the sandbox, which is
really started, the store, keys, programs, the configuration. What is wrong comes first,
with how to fix it. Then all that pawl has picked up: agents, commands, rules, skills,
MCP servers, language servers and hooks, with where each comes from and whether it takes
effect. None of them is run by this.

Exit codes: 0 pawl works, perhaps with less than it could have; 1 it does not.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, extensions := diagnose(cmd.Context())
			var err error
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), report{findings, extensions.Items})
			} else {
				err = PrintFindings(cmd.OutOrStdout(), findings)
			}
			if err != nil {
				return err
			}
			for _, f := range findings {
				if f.Status == Fail {
					return &cli.ExitError{Code: cli.ExitFailed}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// report is the output of 'pawl doctor --json'.
type report struct {
	Checks     []Finding        `json:"checks"` // the worst first
	Extensions []inventory.Item `json:"extensions"`
}

// diagnose runs all checks and takes an inventory of the extensions. It returns the findings with
// the most severe first.
func diagnose(ctx context.Context) ([]Finding, *inventory.Inventory) {
	extensions, err := inventory.TakeHere(ctx)
	if err != nil {
		extensions = &inventory.Inventory{ProjectErr: err, Items: []inventory.Item{}}
	}
	findings := slices.Concat(
		checkSandbox(ctx),
		[]Finding{checkConfig(), checkFolder(), checkPolicy(), checkTrust(ctx, extensions), checkExtensions(extensions, err)},
		faultFindings(extensions),
		[]Finding{
			checkStore(ctx), checkKeys(),
			checkProgram(ctx, "bash", Fail, "commands cannot be run without it", "--version"),
			checkProgram(ctx, "git", Warn, "there are no diffs and no history without it", "--version"),
			checkSnapshots(ctx), checkMissions(ctx),
			checkProgram(ctx, "rg", Warn, "searching is slower without it", "--version"),
			checkTerminal(),
		})
	rank := map[string]int{Fail: 0, Warn: 1, OK: 2}
	slices.SortStableFunc(findings, func(a, b Finding) int { return rank[a.Status] - rank[b.Status] })
	return findings, extensions
}

// PrintFindings prints findings as a table, each fix below its finding.
func PrintFindings(w io.Writer, findings []Finding) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Status, f.Name, sanitize.Line(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\tfix: %s\n", sanitize.Line(f.Fix))
		}
	}
	return t.Flush()
}
