package main

import (
	"time"

	"github.com/spf13/cobra"
)

// workerFlags are the flags of 'pawl worker'.
type workerFlags struct {
	roles   []string
	host    string
	room    int
	reserve string
	size    string
	gateway string
	health  string
	version string
	drain   time.Duration
	log     string
}

// The roles of a worker.
const (
	roleBrain = "brain"
	roleHands = "hands"
)

func workerCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker [flags]",
		Short: "Work on the sessions of a fleet",
		Long: `Work on the sessions that 'pawl serve --fleet' takes in, until it is told to end.

A brain decides what comes next, and asks the models for those that have no keys. The
hands have the workspaces: they run the calls, each on its own host. A worker is both
unless --role says otherwise. It dials out to Temporal, PostgreSQL, NATS and the store
of checkpoints, as the section fleet of the configuration says ('pawl config schema').

At SIGTERM or Ctrl-C the hands take nothing new, let what runs come to its end, and
leave their workspaces to other hosts. What is cut off then goes on elsewhere: a call
that was under way has an unknown outcome, and is not run twice.`,
		Example: `  pawl worker
  PAWL_GATEWAY_TOKEN=… pawl worker --role brain --gateway-listen 0.0.0.0:4748
  PAWL_GATEWAY_TOKEN=… pawl worker --role hands --host h1 --health 127.0.0.1:4749`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.roles, "role", []string{roleBrain, roleHands}, "what it does: brain, hands or both")
	flags.StringVar(&f.host, "host", "", "the `name` of this host, unique in the fleet (default PAWL_HOST, or the machine's)")
	flags.IntVar(&f.room, "room", 50, "workspaces that may be worked in at once on this host")
	flags.StringVar(&f.reserve, "reserve", "1GiB", "`bytes` of the disk that are to stay free: with less the host is full")
	flags.StringVar(&f.size, "workspace-size", "16GiB", "`bytes` that a workspace may have: a turn that makes it larger ends")
	flags.StringVar(&f.gateway, "gateway-listen", "", "where a brain is asked for models: `HOST:PORT` (its token is in PAWL_GATEWAY_TOKEN)")
	flags.StringVar(&f.health, "health", "", "where to answer /healthz, /readyz and /metrics: `HOST:PORT`")
	flags.StringVar(&f.version, "build-id", "", "the `version` of the code, to pin workflows to: 'pawl fleet promote' lets new work begin with it")
	flags.DurationVar(&f.drain, "drain", 5*time.Minute, "how long what runs may take to come to its end")
	flags.StringVar(&f.log, "log", "text", "how to write the log to standard error: text, json or none")
	return cmd
}
