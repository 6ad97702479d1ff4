package command

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/serve"
)

// workerFlags are the flags of 'pawl-fleet worker'.
type workerFlags struct {
	node.WorkerOptions
	reserve, size string
	log           string
}

func workerCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker [flags]",
		Short: "Run a fleet worker",
		Long: `Run a worker for the sessions that 'pawl-fleet serve' accepts, until it is stopped.

A coordinator schedules the steps of sessions and answers model requests of hosts that
have no API keys. An executor holds workspaces and runs tool calls in them. A worker has
both roles unless --role is given. It connects to Temporal, PostgreSQL, NATS and the
checkpoint store of the configuration section "fleet" (see 'pawl config schema').

On SIGTERM or Ctrl-C an executor accepts no new work, waits for running calls, and
releases its workspaces to other hosts. A call that is cut off has an unknown outcome;
it is not run twice.`,
		Example: `  pawl-fleet worker
  PAWL_GATEWAY_TOKEN=… pawl-fleet worker --role coordinator --gateway-listen 0.0.0.0:4748
  PAWL_GATEWAY_TOKEN=… pawl-fleet worker --role executor --host h1 --health 127.0.0.1:4749`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Roles, "role", []string{node.RoleCoordinator, node.RoleExecutor}, "roles of this worker: coordinator, executor")
	flags.StringVar(&f.Host, "host", "", "`name` of this host, unique in the fleet (default: PAWL_HOST, or the host name)")
	flags.IntVar(&f.Capacity, "capacity", 50, "maximum number of workspaces in use on this host")
	flags.StringVar(&f.reserve, "reserve", "1GiB", "disk `space` to keep free: with less, the host is full")
	flags.StringVar(&f.size, "workspace-size", "16GiB", "maximum `size` of a workspace: a turn that exceeds it is stopped")
	flags.StringVar(&f.GatewayListen, "gateway-listen", "", "`address` of the model gateway of a coordinator, as HOST:PORT (its token is in PAWL_GATEWAY_TOKEN)")
	flags.StringVar(&f.HealthListen, "health", "", "`address` for /healthz, /readyz and /metrics, as HOST:PORT")
	flags.StringVar(&f.BuildID, "build-id", "", "`version` to pin workflows to (see 'pawl-fleet promote')")
	flags.DurationVar(&f.Drain, "drain", 5*time.Minute, "how long to wait for running calls at shutdown")
	flags.StringVar(&f.log, "log", "text", "log `format` on standard error: text, json or none")
	return cmd
}

func (f *workerFlags) run(cmd *cobra.Command) (err error) {
	if f.Log, err = serve.NewLogger(cmd.ErrOrStderr(), f.log); err != nil {
		return cli.UsageError(cmd, err)
	}
	for _, r := range f.Roles {
		if r != node.RoleCoordinator && r != node.RoleExecutor {
			return cli.UsageError(cmd, fmt.Errorf("invalid --role %q: use coordinator or executor", r))
		}
	}
	if f.Reserve, err = parseSize(f.reserve); err != nil {
		return cli.UsageError(cmd, fmt.Errorf("--reserve: %w", err))
	}
	if f.WorkspaceSize, err = parseSize(f.size); err != nil {
		return cli.UsageError(cmd, fmt.Errorf("--workspace-size: %w", err))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return node.RunWorker(ctx, f.WorkerOptions, stop) // a second signal kills the process
}
