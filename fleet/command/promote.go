package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/cli"
)

func promoteCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "promote version",
		Short: "Have new work begin with a version of the workers",
		Long: `Have new work begin with a version of the workers: what they gave as --build-id.

Work that has begun stays with the workers of its version as long as there are any. What
is pinned to a version that no worker has any more is begun anew with this one; the log
knows how far it has come, so nothing is lost or done twice. Run it again after the last
worker of the old version has ended.`,
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
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "new work begins with %s; %d workflows of versions without workers were begun anew\n", version, p.Rescued)
		return err
	})
}
