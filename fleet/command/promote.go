package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func promoteCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "promote version",
		Short: "Make a version of the workers current",
		Long: `Make a version of the workers (their --build-id) current. New work starts with it.

Running work stays with the workers of its version as long as there are any. Workflows of
versions without workers are restarted with the new version. They continue from the log,
so nothing is lost or done twice. Run the command again after the last worker of the old
version has stopped.`,
		Example: `  pawl-fleet promote v2
  pawl-fleet promote v2 --wait 10m`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.promote(cmd, args[0]) },
	}
	f.addJSON(cmd)
	cmd.Flags().DurationVar(&f.wait, "wait", time.Minute, "how long to wait for the first worker of the version")
	return cmd
}

// promotion is what 'pawl-fleet promote --json' prints.
type promotion struct {
	Version string   `json:"version"`
	Left    []string `json:"left"`    // versions without workers
	Rescued int      `json:"rescued"` // workflows of these versions that were restarted
}

func (f *flags) promote(cmd *cobra.Command, version string) error {
	return withInspector(cmd, func(ctx context.Context, i *node.Inspector) error {
		known, cancel := context.WithTimeout(ctx, f.wait)
		defer cancel()
		if err := runner.WaitForVersion(known, i.Engine, version); err != nil {
			return err
		}
		if err := runner.Promote(ctx, i.Engine, version); err != nil {
			return err
		}
		p := promotion{Version: version, Left: []string{}}
		left, err := runner.StrandedVersions(ctx, i.Engine)
		if err != nil {
			return err
		}
		for _, v := range left {
			n, err := runner.Rescue(ctx, i.Engine, v)
			p.Left, p.Rescued = append(p.Left, v), p.Rescued+n
			if err != nil {
				return err
			}
		}
		if f.json {
			return cli.WriteJSON(cmd.OutOrStdout(), p)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is current. Restarted %s of versions without workers.\n", version, humanize.Plural(p.Rescued, "workflow"))
		return err
	})
}
