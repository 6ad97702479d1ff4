package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/node"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/store"
)

// watchEvery is how often 'pawl-fleet status --watch' prints.
const watchEvery = 2 * time.Second

func statusCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show hosts, sessions and queues",
		Long: `Show the hosts, sessions and queues of a fleet.

A host is live if it sent a heartbeat within the last seconds, otherwise late. A host that
is draining or full accepts no new workspaces. A queue without pollers has no workers.
The lag is the waiting time of the oldest task in all queues.

Exit codes: 0 all services answered; 1 a service did not answer, the output is partial.`,
		Example: `  pawl-fleet status
  pawl-fleet status --watch
  pawl-fleet status --json | jq '.hosts[] | select(.live | not) | .name'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.status(cmd) },
	}
	f.addJSON(cmd)
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "refresh every few seconds, until Ctrl-C")
	return cmd
}

func (f *flags) status(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	i, err := node.OpenInspector(ctx)
	if err != nil {
		return err
	}
	defer i.Close()
	for {
		s := i.Status(ctx)
		if f.json {
			err = cli.WriteJSON(cmd.OutOrStdout(), s)
		} else {
			err = printStatus(cmd.OutOrStdout(), s)
		}
		if err != nil {
			return err
		}
		if !f.watch && len(s.Faults) > 0 {
			return &cli.ExitError{Code: cli.ExitFailed}
		}
		if !f.watch || node.Sleep(ctx, watchEvery) != nil {
			return nil
		}
	}
}

// withInspector runs do with connections to the store and to Temporal.
func withInspector(cmd *cobra.Command, do func(ctx context.Context, i *node.Inspector) error) error {
	i, err := node.OpenInspector(cmd.Context())
	if err != nil {
		return err
	}
	defer i.Close()
	if i.Hosts == nil || i.Engine.Client == nil {
		return fault.New(pawl.ErrUnavailable, "cannot read the state of the fleet: %s", strings.Join(i.Faults, "; ")).Hint("Run `pawl-fleet check` to see which part does not answer.")
	}
	return do(cmd.Context(), i)
}

// printStatus prints a status as tables.
func printStatus(w io.Writer, s *node.Status) error {
	for _, fault := range s.Faults {
		fmt.Fprintf(w, "problem: %s\n", sanitize.Line(fault))
	}
	connected := "disconnected"
	if s.NATS {
		connected = "connected"
	}
	fmt.Fprintf(w, "%s  lag %s  NATS %s\n\n", s.At.Format(time.DateTime), s.Lag.Round(time.Millisecond), connected)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tVERSION\tSTATE\tBUSY\tCAPACITY\tKEPT\tDISK FREE\tLAST SEEN")
	for _, h := range s.Hosts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", sanitize.Line(h.Name), sanitize.Line(h.Version), node.HostState(h), h.Busy, h.Capacity, h.Kept, humanize.IBytes(h.DiskFree), h.Seen.Format(time.DateTime))
	}
	fmt.Fprintln(t, "\nTENANT\tRUNNING\tQUEUED\tWAITING")
	for _, l := range s.Sessions {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", tenantText(l.Tenant), l.Working, l.Queued, l.Waiting)
	}
	fmt.Fprintln(t, "\nQUEUE\tPOLLERS\tBACKLOG\tOLDEST\tVERSIONS")
	for _, q := range s.Queues {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", sanitize.Line(q.Name), q.Pollers, q.Backlog, q.Oldest.Round(time.Millisecond), sanitize.Line(strings.Join(q.Versions, " ")))
	}
	fmt.Fprintln(t, "\nCOORDINATORS\tSTATE")
	for _, v := range s.Versions {
		fmt.Fprintf(t, "%s\t%s\n", sanitize.Line(v.ID), versionState(v))
	}
	fmt.Fprintln(t)
	return t.Flush()
}

func versionState(v runner.Version) string {
	switch {
	case v.Current:
		return "current"
	case v.Drained:
		return "drained"
	}
	return "old"
}

func tenantText(t store.Tenant) string {
	if t == "" {
		return "(none)"
	}
	return string(t)
}
