// Package gc implements the command 'pawl gc', which deletes unused data.
package gc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
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
	Sandboxes policy.Cleaned    `json:"sandboxes"`
	// Worktrees lists the deleted worktrees of mission workers.
	Worktrees []string `json:"worktrees"`
	// Isolated lists the deleted views of isolated sessions.
	Isolated []string `json:"isolated"`
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
		Short: "Delete unused data",
		Long: `Delete unused data: snapshots for undo, caches and temporary files of sandboxed commands,
worktrees of sealed or deleted missions, and views of isolated sessions.

Pawl deletes the data of deleted sessions, then data that was not used for --days, then
the oldest snapshots until all snapshots fit into --quota. A session without snapshots
still works, but its file changes can no longer be undone. Pawl deletes no sessions; use
'pawl session delete' for that.`,
		Example: `  pawl gc --dry-run
  pawl gc --days 7 --quota 500
  pawl gc --json | jq .snapshots.after`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.days < 0 || f.quota < 0 {
				return cli.UsageError(cmd, errors.New("--days and --quota must not be negative"))
			}
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				r, err := f.run(ctx, a)
				if err != nil {
					return err
				}
				if f.asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), r.withoutNull())
				}
				printGC(cmd.OutOrStdout(), r)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&f.days, "days", keepDays, "delete data that was not used for `n` days (0 = no age limit)")
	cmd.Flags().IntVar(&f.quota, "quota", quotaMiB, "keep at most `n` MiB of snapshots (0 = no limit)")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would be deleted, without deleting it")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f gcFlags) run(ctx context.Context, a *app.App) (gcReport, error) {
	r := gcReport{DryRun: f.dry, Worktrees: []string{}, Isolated: []string{}}
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
	if r.Isolated, err = sweepViews(alive, clean.Before, f.dry); err != nil {
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

// sweepViews deletes the views of isolated sessions that were deleted, or that were not used since a time.
func sweepViews(alive func(pawl.SessionID) bool, before time.Time, dry bool) ([]string, error) {
	dir, err := config.Isolated()
	if err != nil {
		return nil, err
	}
	removed, err := isolate.Store{Dir: dir}.Sweep(before, func(v isolate.View) bool {
		sessions, err := v.Sessions()
		return err == nil && len(sessions) > 0 && !slices.ContainsFunc(sessions, alive)
	}, dry)
	return append([]string{}, removed...), err
}

// withoutNull returns the report with empty lists in place of null.
func (r gcReport) withoutNull() gcReport {
	r.Snapshots.Folders = append([]snapshot.FolderReport{}, r.Snapshots.Folders...)
	for i := range r.Snapshots.Folders {
		f := &r.Snapshots.Folders[i]
		f.Removed = append([]snapshot.Removal{}, f.Removed...)
	}
	return r
}

func printGC(w io.Writer, r gcReport) {
	freed, deleted := "freed", "deleted"
	if r.DryRun {
		freed, deleted = "would free", "would delete"
	}
	for _, f := range r.Snapshots.Folders {
		if f.Why == "" && len(f.Removed) == 0 {
			continue
		}
		name := f.Dir
		if name == "" {
			name = "unknown directory"
		}
		fmt.Fprintf(w, "%s: %s the snapshots of %s", sanitize.Line(name), deleted, humanize.Plural(len(f.Removed), "session"))
		if f.Why != "" {
			fmt.Fprintf(w, " (all of this directory: %s)", f.Why)
		}
		fmt.Fprintln(w)
		for _, removed := range f.Removed {
			fmt.Fprintf(w, "  %s: %s\n", removed.Owner, removed.Why)
		}
	}
	fmt.Fprintf(w, "snapshots: %s %s\n", freed, share(r.Snapshots.Before, r.Snapshots.After))
	fmt.Fprintf(w, "sandboxes: %s %s (temporary files of %s, caches of %s)\n", freed, share(r.Sandboxes.Before, r.Sandboxes.After),
		humanize.Plural(r.Sandboxes.Sessions, "session"), humanize.Plural(r.Sandboxes.Folders, "project"))
	if n := len(r.Worktrees); n > 0 {
		fmt.Fprintf(w, "missions: %s %s\n", deleted, humanize.Plural(n, "worktree"))
	}
	if n := len(r.Isolated); n > 0 {
		fmt.Fprintf(w, "isolated sessions: %s %s\n", deleted, humanize.Plural(n, "view"))
	}
}

// share describes how much of a size was freed. Files that others wrote meanwhile do not count.
func share(before, after int64) string {
	return humanize.Bytes(max(0, before-after)) + " of " + humanize.Bytes(before)
}
