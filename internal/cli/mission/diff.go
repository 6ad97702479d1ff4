package mission

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// diffFlags are the flags of 'pawl mission diff'.
type diffFlags struct{ stat, json bool }

// diffJSON is the output of 'pawl mission diff --json'.
type diffJSON struct {
	Mission pawl.SessionID `json:"mission"`
	Task    string         `json:"task,omitempty"`
	mission.Span

	Files []git.FileStat `json:"files"`
}

func missionDiffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff [id] [task]",
		Short: "Show what a mission or one of its tasks has changed",
		Long: `Show what a mission has changed: the diff between the commit that it started from and its
branch. With a task, show what was merged for it or, if it is not merged, what its worker
has done so far. Without an id, show the newest mission of this directory.`,
		Example: `  pawl mission diff
  pawl mission diff last T1
  pawl mission diff 8Q4Z7K --stat
  pawl mission diff --json | jq -r '.files[] | "\(.added) \(.removed) \(.path)"'`,
		Args: cli.Args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var here missionTarget
			return here.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				task := ""
				if len(args) > 1 {
					task = args[1]
				}
				return f.run(ctx, cmd, a, s, task)
			})
		},
	}
	cmd.Flags().BoolVar(&f.stat, "stat", false, "print the changed lines of each file instead of the diff")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the commits and the changed lines of each file as JSON")
	cmd.MarkFlagsMutuallyExclusive("stat", "json")
	return cmd
}

func (f *diffFlags) run(ctx context.Context, cmd *cobra.Command, a *app.App, s pawl.Session, task string) error {
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	trees, err := treesOf(ctx, a, b.Session.Dir)
	if err != nil {
		return err
	}
	span, err := spanOf(ctx, trees, b, task)
	if err != nil {
		return err
	}
	if !f.json {
		text, err := trees.Repo.Compare(ctx, span.Base, span.Commit, f.stat)
		if err != nil {
			return err
		}
		_, err = io.WriteString(cmd.OutOrStdout(), sanitize.Marked(string(text)))
		return err
	}
	out := diffJSON{Mission: s.ID, Task: task, Span: span}
	if out.Files, err = trees.Repo.FileStats(ctx, span.Base, span.Commit); err != nil {
		return err
	}
	return cli.WriteJSON(cmd.OutOrStdout(), out)
}

// spanOf returns the changes of a mission or, if task is not "", of a task.
func spanOf(ctx context.Context, trees *worktree.Trees, b pawl.Board, task string) (mission.Span, error) {
	if task == "" {
		return mission.Whole(&b.Mission)
	}
	t, err := mission.FindTask(&b.Mission, task)
	if err != nil {
		return mission.Span{}, err
	}
	return mission.TaskSpan(ctx, trees, b.Session.ID, &b.Mission, t)
}

// treesOf returns the worktrees of the repository in a directory.
func treesOf(ctx context.Context, a *app.App, dir string) (*worktree.Trees, error) {
	repo, err := app.RepoOf(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("open the repository of the mission: %w", err)
	}
	at, err := a.Policy.Allot(repo)
	if err != nil {
		return nil, err
	}
	return &worktree.Trees{Repo: repo, Dir: at}, nil
}
