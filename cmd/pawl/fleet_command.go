package main

import (
	"time"

	"github.com/spf13/cobra"
)

// fleetFlags are the flags of the commands below 'pawl fleet'.
type fleetFlags struct {
	json  bool
	watch bool
	undo  bool
	wait  time.Duration
}

func fleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Look at a fleet, upgrade it and take hosts out",
		Long: `Look at a fleet, upgrade it and take hosts out.

A fleet is 'pawl serve --fleet' on some machines, which takes sessions in, and 'pawl
worker' on others, which do the work. They meet at Temporal, PostgreSQL, NATS and a
store of checkpoints: the section fleet of the configuration says where these are, and
PAWL_STORE where PostgreSQL is. See docs/guide/fleet.md.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(fleetStatusCommand(), fleetCheckCommand(), fleetPromoteCommand(), fleetDrainCommand())
	return cmd
}

func fleetStatusCommand() *cobra.Command {
	var f fleetFlags
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show the hosts, the work and the queues",
		Long: `Show the hosts, the work and the queues of a fleet.

A host is live if it was heard of within the last seconds, else late. One that drains or
is full takes no new workspaces. A queue without pollers is one that nobody works on;
the lag is how long the first task of all queues has waited.

Exit codes: 0 all parts have answered; 1 one has not, and what the others know is shown.`,
		Example: `  pawl fleet status
  pawl fleet status --watch
  pawl fleet status --json | jq '.hosts[] | select(.live | not) | .name'`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.status(cmd) },
	}
	f.addJSON(cmd)
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "show it again every few seconds, until Ctrl-C")
	return cmd
}

func fleetCheckCommand() *cobra.Command {
	var f fleetFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that all parts of a fleet can be reached from here",
		Long: `Check that all parts of a fleet can be reached from here, and that they are as a
fleet needs them: the database role that keeps tenants apart, the clocks, workers that
ask for work, a store of checkpoints that can be written to. What is wrong comes first,
with how to fix it. It writes and removes one small blob, and changes nothing else.

Exit codes: 0 the fleet works, perhaps with less than it could have; 1 it does not.`,
		Example: `  pawl fleet check
  pawl fleet check --json | jq -r '.[] | select(.status != "ok") | .fix'`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
	}
	f.addJSON(cmd)
	return cmd
}

func fleetPromoteCommand() *cobra.Command {
	var f fleetFlags
	cmd := &cobra.Command{
		Use:   "promote version",
		Short: "Have new work begin with a version of the workers",
		Long: `Have new work begin with a version of the workers: what they gave as --build-id.

Work that has begun stays with the workers of its version as long as there are any. What
is pinned to a version that no worker has any more is begun anew with this one; the log
knows how far it has come, so nothing is lost or done twice. Run it again after the last
worker of the old version has ended.`,
		Example: `  pawl fleet promote v2
  pawl fleet promote v2 --wait 10m`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.promote(cmd, args[0]) },
	}
	f.addJSON(cmd)
	cmd.Flags().DurationVar(&f.wait, "wait", time.Minute, "how long to wait for the first worker of the version")
	return cmd
}

func fleetDrainCommand() *cobra.Command {
	var f fleetFlags
	cmd := &cobra.Command{
		Use:   "drain host",
		Short: "Have a host let go of its workspaces",
		Long: `Have a host let go of its workspaces, and wait until nobody works there any more.

It takes nothing new. What runs comes to the end of its step and goes on at another host,
which gets the workspace from its checkpoint. The host stays so, also if it is started
anew, until --undo.`,
		Example: `  pawl fleet drain h1
  pawl fleet drain h1 --wait 0
  pawl fleet drain h1 --undo`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.drain(cmd, args[0]) },
	}
	f.addJSON(cmd)
	cmd.Flags().BoolVar(&f.undo, "undo", false, "let it take workspaces again")
	cmd.Flags().DurationVar(&f.wait, "wait", 5*time.Minute, "how long to wait until nobody works there; 0 does not wait")
	return cmd
}

func (f *fleetFlags) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}
