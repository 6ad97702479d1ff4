package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
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
		Short: "Check what pawl needs, and say how to fix what is missing",
		Long: `Check what pawl needs on this machine and in this folder: the sandbox, which is
really started, the store, keys, programs, the configuration.

Exit codes: 0 pawl works, perhaps with less than it could have; 1 it does not.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := diagnose(cmd.Context())
			var err error
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), findings)
			} else {
				err = printFindings(cmd.OutOrStdout(), findings)
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

// diagnose makes all checks, in the order in which they matter.
func diagnose(ctx context.Context) []finding {
	findings := checkSandbox(ctx)
	return append(findings,
		checkConfig(), checkPolicy(), checkTrust(ctx), checkExtensions(ctx), checkStore(ctx), checkKeys(),
		checkProgram(ctx, "bash", checkFail, "commands cannot be run without it", "--version"),
		checkProgram(ctx, "git", checkWarn, "there are no diffs and no history without it", "--version"),
		checkSnapshots(ctx),
		checkProgram(ctx, "rg", checkWarn, "searching is slower without it", "--version"),
		checkTerminal(),
	)
}

func printFindings(w io.Writer, findings []finding) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Status, f.Name, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\tfix: %s\n", f.Fix)
		}
	}
	return t.Flush()
}
