package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func drainCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "drain host",
		Short: "Move all work away from a host",
		Long: `Move all work away from a host, and wait until it is idle.

The host accepts no new workspaces. Running sessions finish their step and continue on
another host, which restores the workspace from its checkpoint. The host keeps draining,
even after a restart, until --undo.`,
		Example: `  pawl-fleet drain h1
  pawl-fleet drain h1 --wait 0
  pawl-fleet drain h1 --undo`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.drain(cmd, args[0]) },
	}
	f.addJSON(cmd)
	cmd.Flags().BoolVar(&f.undo, "undo", false, "let the host accept workspaces again")
	cmd.Flags().DurationVar(&f.wait, "wait", 5*time.Minute, "how long to wait until the host is idle (0 = do not wait)")
	return cmd
}

func (f *flags) drain(cmd *cobra.Command, host string) error {
	return withInspector(cmd, func(ctx context.Context, i *node.Inspector) error {
		switch err := i.Hosts.Drain(ctx, host, !f.undo); {
		case errors.Is(err, pawl.ErrNotFound):
			return fault.New(pawl.ErrNotFound, "drain %s: %w", host, err).Hint("Run `pawl-fleet status` to see all hosts.")
		case err != nil:
			return err
		}
		m, err := findHost(ctx, i, host)
		if err == nil && !f.undo && f.wait > 0 {
			m, err = awaitEmpty(ctx, i, host, f.wait)
		}
		if err != nil {
			return err
		}
		if f.json {
			return cli.WriteJSON(cmd.OutOrStdout(), m)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is %s, %s in use\n", host, node.HostState(m), humanize.Plural(m.Busy, "workspace"))
		return err
	})
}

// awaitEmpty waits until no session runs on a host. A host that is not live counts as empty.
func awaitEmpty(ctx context.Context, i *node.Inspector, host string, wait time.Duration) (h fleet.Host, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	late := node.WaitFor(ctx, func() bool {
		h, err = findHost(ctx, i, host)
		return err != nil || h.Busy == 0 || !h.Live
	})
	if late != nil {
		return h, fault.New(pawl.ErrUnavailable, "%s of %s still in use after %s", humanize.Plural(h.Busy, "workspace"), host, wait).Hint("The host keeps draining. Run the command again with a longer --wait.")
	}
	return h, err
}

func findHost(ctx context.Context, i *node.Inspector, name string) (fleet.Host, error) {
	hosts, err := i.Hosts.Hosts(ctx)
	if err != nil {
		return fleet.Host{}, err
	}
	at := slices.IndexFunc(hosts, func(h fleet.Host) bool { return h.Name == name })
	if at < 0 {
		return fleet.Host{}, fault.New(pawl.ErrNotFound, "host %s not found, or not seen for a day", name)
	}
	return hosts[at], nil
}
