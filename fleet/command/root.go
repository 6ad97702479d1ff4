// Package command implements the commands of pawl-fleet, which run the nodes of a fleet and operate it.
package command

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/cli/doctor"
	"github.com/pawl-dev/pawl/internal/cli/root"
	"github.com/pawl-dev/pawl/internal/cli/serve"
)

// Main runs pawl-fleet and returns its exit code.
func Main() int { return root.Run(command()) }

// command returns the root command.
func command() *cobra.Command {
	cmd := root.New("pawl-fleet", "Run and operate a fleet of Pawl servers")
	cmd.Long = `Run and operate a fleet, which runs sessions on many hosts.

A fleet consists of API nodes ('pawl-fleet serve'), which accept sessions, and workers
('pawl-fleet worker'), which run them. They share Temporal, PostgreSQL, NATS and a
checkpoint store. Configure these in the section fleet of the configuration, and
PostgreSQL in PAWL_STORE. See docs/explanation/fleet.md.`
	cmd.Example = `  pawl-fleet serve --listen 0.0.0.0:4747
  pawl-fleet worker
  pawl-fleet status`
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(serveCommand(), workerCommand(), statusCommand(), checkCommand(), promoteCommand(), drainCommand(),
		serve.TokenCommand(), serve.TenantCommand(), config.Command(), doctor.Command())
	return root.Finish(cmd)
}

// flags are the flags of the commands that operate a fleet.
type flags struct {
	json  bool
	watch bool
	undo  bool
	wait  time.Duration
}

func (f *flags) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

func serveCommand() *cobra.Command {
	cmd := serve.Command(func(ctx context.Context, log *slog.Logger) (*serve.Node, error) {
		n, err := node.OpenAPI(ctx, log)
		if err != nil {
			return nil, err
		}
		return &serve.Node{App: n.App, Workspaces: n.Workspaces, Adopt: n.Adopt, Close: n.Close}, nil
	})
	cmd.Short = "Start an API node of a fleet"
	cmd.Example = `  PAWL_SERVER_TOKEN=… pawl-fleet serve --listen 0.0.0.0:4747 --host pawl.example.com
  pawl run --attach https://pawl.example.com --source https://example.com/shop.git "fix the build"`
	return cmd
}
