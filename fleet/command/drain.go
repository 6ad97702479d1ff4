package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
)

func drainCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "drain host",
		Short: "Have a host let go of its workspaces",
		Long: `Have a host let go of its workspaces, and wait until nobody works there any more.

It takes nothing new. What runs comes to the end of its step and goes on at another host,
which gets the workspace from its checkpoint. The host stays so, also if it is started
anew, until --undo.`,
		Example: `  pawl-fleet drain h1
  pawl-fleet drain h1 --wait 0
  pawl-fleet drain h1 --undo`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.drain(cmd, args[0]) },
	}
	f.addJSON(cmd)
	cmd.Flags().BoolVar(&f.undo, "undo", false, "let it take workspaces again")
	cmd.Flags().DurationVar(&f.wait, "wait", 5*time.Minute, "how long to wait until nobody works there; 0 does not wait")
	return cmd
}

func (f *flags) drain(cmd *cobra.Command, host string) error {
	return withInspector(cmd, func(ctx context.Context, i *node.Inspector) error {
		if err := i.Hosts.Drain(ctx, host, !f.undo); err != nil {
			return fmt.Errorf("%w: 'pawl-fleet status' lists the hosts", err)
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
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is %s, %d workspaces are worked in\n", host, node.HostState(m), m.Busy)
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
		return h, fault.New(pawl.ErrUnavailable, "%d workspaces of %s are still worked in after %s: it goes on draining, wait longer with --wait", h.Busy, host, wait)
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
		return fleet.Host{}, fault.New(pawl.ErrNotFound, "host %s was not seen for a day", name)
	}
	return hosts[at], nil
}
