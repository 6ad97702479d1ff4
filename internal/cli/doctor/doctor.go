// Package doctor implements the command 'pawl doctor', which runs checks and lists the
// extensions.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
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
		Short: "Check the installation",
		Long: `Check that Pawl works on this machine and in this directory: the sandbox (by starting
it), the store, API keys, programs, the configuration and extensions. Problems come first,
each with a fix. 'pawl extensions list' lists the extensions.

Exit codes: 0 Pawl works, perhaps with limitations; 1 it does not.`,
		Example: `  pawl doctor
  pawl doctor --json | jq '.checks[] | select(.status != "ok")'`,
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
			checkProgram(ctx, "bash", Fail, "Pawl cannot run commands without it", "--version"),
			checkProgram(ctx, "git", Warn, "no diffs and no history without it", "--version"),
			checkSnapshots(ctx), checkMissions(ctx),
			checkProgram(ctx, "rg", Warn, "searches are slower without it", "--version"),
			checkTerminal(),
		})
	rank := map[string]int{Fail: 0, Warn: 1, OK: 2}
	slices.SortStableFunc(findings, func(a, b Finding) int { return rank[a.Status] - rank[b.Status] })
	return findings, extensions
}

// PrintFindings prints each finding on a line, followed by its fix.
func PrintFindings(w io.Writer, findings []Finding) error {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%-4s  %s: %s", f.Status, cmp.Or(titles[f.Name], f.Name), sanitize.Line(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(&b, ". %s", sanitize.Line(f.Fix))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
