// Package gc implements the command 'pawl gc', which deletes unused data.
package gc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// The defaults of the flags.
const (
	keepDays  = 30
	quotaMiB  = 4096
	dayLength = 24 * time.Hour
)

// gcReport is the output of --json.
type gcReport struct {
	DryRun    bool              `json:"dry_run"`
	Snapshots snapshot.GCReport `json:"snapshots"`
	Sandboxes policy.Cleaned    `json:"boxes"`
	// Worktrees lists the deleted worktrees of mission workers.
	Worktrees []string `json:"workplaces"`
}

type gcFlags struct {
	days, quota int
	dry, asJSON bool
}

// Command returns 'pawl gc'.
func Command() *cobra.Command {
	f := gcFlags{}
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Clean up what is not needed any more, and say how much that freed",
		Long: `Clean up what pawl keeps beside the log: snapshots that undo needs, and what
sandboxed commands left in their caches and temporary folders, and what workers of
missions left that are sealed or gone. What belongs to
sessions that were deleted goes, then what was not used for long, then the oldest
snapshots until they fit the quota. A session whose snapshots are gone can still go
on; only its files cannot be taken back any more. Sessions themselves stay:
'pawl session delete' removes them.`,
		Example: `  pawl gc --dry-run
  pawl gc --days 7 --quota 500`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.days < 0 || f.quota < 0 {
				return cli.UsageError(cmd, errors.New("--days and --quota: want 0 or more"))
			}
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				r, err := f.run(ctx, a)
				if err != nil {
					return err
				}
				if f.asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), r)
				}
				printGC(cmd.OutOrStdout(), r)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&f.days, "days", keepDays, "what was not used for `n` days goes; 0 means that age does not count")
	cmd.Flags().IntVar(&f.quota, "quota", quotaMiB, "all snapshots together may take `n` MiB; 0 means no bound")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would go")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f gcFlags) run(ctx context.Context, a *app.App) (gcReport, error) {
	r := gcReport{DryRun: f.dry, Worktrees: []string{}}
	var failed error
	alive := func(id pawl.SessionID) bool {
		_, err := a.Get(ctx, id)
		if err != nil && !errors.Is(err, pawl.ErrNotFound) {
			failed = err // the session is kept: the store cannot be read
		}
		return !errors.Is(err, pawl.ErrNotFound)
	}
	age := time.Duration(f.days) * dayLength
	snapshots, err := app.OpenSnapshots(ctx)
	if err != nil {
		return r, err
	}
	r.Snapshots, err = snapshots.GC(ctx, snapshot.GC{Alive: alive, OlderThan: age, Quota: int64(f.quota) << 20, DryRun: f.dry})
	if err != nil {
		return r, err
	}
	clean := policy.Cleaning{Alive: alive, DryRun: f.dry}
	if age > 0 {
		clean.Before = time.Now().Add(-age)
	}
	if r.Sandboxes, err = policy.Clean(clean); err != nil {
		return r, errors.Join(err, failed)
	}
	top, err := config.Worktrees()
	if err != nil {
		return r, err
	}
	removed, err := mission.Sweep(ctx, top, func(dir string) bool { return mission.Needed(ctx, a.Get, dir) }, f.dry)
	r.Worktrees = append(r.Worktrees, removed...)
	return r, errors.Join(err, failed)
}

func printGC(w io.Writer, r gcReport) {
	verb := "freed"
	if r.DryRun {
		verb = "would free"
	}
	for _, f := range r.Snapshots.Folders {
		if f.Why == "" && len(f.Removed) == 0 {
			continue
		}
		name := f.Dir
		if name == "" {
			name = "a folder that is gone"
		}
		fmt.Fprintf(w, "%s: snapshots of %d sessions", sanitize.Line(name), len(f.Removed))
		if f.Why != "" {
			fmt.Fprintf(w, ", all of them: %s", f.Why)
		}
		fmt.Fprintln(w)
		for _, removed := range f.Removed {
			fmt.Fprintf(w, "  %s: %s\n", removed.Owner, removed.Why)
		}
	}
	fmt.Fprintf(w, "snapshots: %s %s of %s\n", verb, mebibytes(r.Snapshots.Before-r.Snapshots.After), mebibytes(r.Snapshots.Before))
	fmt.Fprintf(w, "sandboxes: %s %s of %s (temporary files of %d sessions, caches of %d folders)\n",
		verb, mebibytes(r.Sandboxes.Before-r.Sandboxes.After), mebibytes(r.Sandboxes.Before), r.Sandboxes.Sessions, r.Sandboxes.Folders)
	if len(r.Worktrees) > 0 {
		fmt.Fprintf(w, "missions: %s %d workplaces\n", verb, len(r.Worktrees))
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
