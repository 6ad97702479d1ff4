package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The outcomes of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // something is less than it could be
	checkFail = "fail" // pawl does not work like this
)

// finding is the outcome of one check.
type finding struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

func doctorCommand() *cobra.Command {
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
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, groups := diagnose(cmd.Context())
			var err error
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), examination{findings, groups})
			} else if err = printFindings(cmd.OutOrStdout(), findings); err == nil {
				err = printGroups(cmd.OutOrStdout(), groups)
			}
			if err != nil {
				return err
			}
			for _, f := range findings {
				if f.Status == checkFail {
					return &exitError{code: exitFailed}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examination is all that 'pawl doctor --json' prints.
type examination struct {
	Checks []finding   `json:"checks"` // the worst first
	Found  []itemGroup `json:"found"`
}

// diagnose makes all checks, and returns the worst first, else in the order in
// which they matter; and what was picked up here.
func diagnose(ctx context.Context) ([]finding, []itemGroup) {
	groups, err := takeInventory(ctx)
	if err != nil {
		groups = []itemGroup{}
	}
	findings := slices.Concat(
		checkSandbox(ctx),
		[]finding{checkConfig(), checkFolder(), checkPolicy(), checkTrust(ctx), checkExtensions(groups, err)},
		faultFindings(groups),
		[]finding{
			checkStore(ctx), checkKeys(),
			checkProgram(ctx, "bash", checkFail, "commands cannot be run without it", "--version"),
			checkProgram(ctx, "git", checkWarn, "there are no diffs and no history without it", "--version"),
			checkSnapshots(ctx), checkMissions(ctx),
			checkProgram(ctx, "rg", checkWarn, "searching is slower without it", "--version"),
			checkTerminal(),
		})
	rank := map[string]int{checkFail: 0, checkWarn: 1, checkOK: 2}
	slices.SortStableFunc(findings, func(a, b finding) int { return rank[a.Status] - rank[b.Status] })
	return findings, groups
}

func printFindings(w io.Writer, findings []finding) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Status, f.Name, sanitize.Line(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\tfix: %s\n", sanitize.Line(f.Fix))
		}
	}
	return t.Flush()
}
