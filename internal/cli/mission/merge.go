package mission

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// mergeFlags are the flags of 'pawl mission merge'.
type mergeFlags struct{ branch, onto string }

func missionMergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge id task…",
		Short: "Put some tasks of a mission on a new branch",
		Long: `Put the changes of some merged tasks on a new branch, in the order in which they were
merged, like git cherry-pick. Your files, index and branches stay as they are. If the
tasks do not fit together without the others, Pawl names the conflicts and creates
nothing. For all tasks, merge the branch of the mission instead.

The gate has verified the whole mission and not a part of it. Pawl prints the command
that verifies the new branch.`,
		Example: `  pawl mission merge last T1 T3
  pawl mission merge 8Q4Z7K T2 --branch only-the-parser --onto main`,
		Args: cli.Args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var here missionTarget
			return here.with(cmd, args[:1], func(ctx context.Context, a *app.App, s pawl.Session) error {
				b, err := a.Mission(ctx, s.ID)
				if err != nil {
					return err
				}
				return f.run(ctx, cmd, a, b, args[1:])
			})
		},
	}
	cmd.Flags().StringVar(&f.branch, "branch", "", "create this branch (default \"pawl/merge-\" and the end of the id)")
	cmd.Flags().StringVar(&f.onto, "onto", "", "put the changes on top of this `ref` (default: the commit that the mission started from)")
	return cmd
}

func (f *mergeFlags) run(ctx context.Context, cmd *cobra.Command, a *app.App, b pawl.Board, ids []string) error {
	name := cmp.Or(f.branch, defaultBranch("merge", b.Session.ID))
	if err := git.CheckRef(name); err != nil {
		return cli.UsageError(cmd, err)
	}
	tasks, err := chosenTasks(&b.Mission, ids)
	if err != nil {
		return err
	}
	trees, err := treesOf(ctx, a, b.Session.Dir)
	if err != nil {
		return err
	}
	start, err := trees.Repo.Commit(ctx, cmp.Or(f.onto, b.Mission.Criteria.Base))
	if err != nil {
		return err
	}
	tip := start
	for _, t := range tasks {
		if tip, err = pickTask(ctx, trees, b.Session.ID, tip, t); err != nil {
			return err
		}
	}
	if err := createBranch(ctx, trees.Repo, name, tip); err != nil {
		return err
	}
	explainMerge(cmd.OutOrStdout(), b, tasks, name, start, tip)
	return nil
}

// chosenTasks returns the named tasks that have a commit, in the order in which they were merged.
func chosenTasks(m *pawl.Mission, ids []string) (tasks []pawl.TaskState, err error) {
	for i, id := range ids {
		t, err := mission.FindTask(m, id)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(ids[:i], id):
			return nil, fault.New(pawl.ErrInvalid, "task %s is named twice", sanitize.Line(id))
		case t.Phase != pawl.PhaseMerged:
			return nil, fault.New(pawl.ErrInvalid, "task %s is not merged: it is %s", sanitize.Line(id), t.Phase).Hint("Run `pawl mission diff` with the task to see what it has so far.")
		case mission.MergedCommit(m, t) == "":
			return nil, fault.New(pawl.ErrInvalid, "task %s has changed nothing", sanitize.Line(id)).Hint("Leave it out.")
		}
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(a, b pawl.TaskState) int { return a.Ended.Compare(b.Ended) })
	return tasks, nil
}

// maxNamedConflicts bounds the conflicts that an error names.
const maxNamedConflicts = 10

// pickTask puts the changes of a task on top of a commit.
func pickTask(ctx context.Context, trees *worktree.Trees, id pawl.SessionID, onto string, t pawl.TaskState) (string, error) {
	label := worktree.Label{Mission: string(id), Task: t.Task.ID, Attempt: t.Attempt, Title: t.Task.Title, Text: "Picked from " + t.Commit + ".", At: t.Ended}
	got, err := trees.Pick(ctx, onto, t.Commit, label)
	if err != nil || len(got.Conflicts) == 0 {
		return got.Commit, err
	}
	var paths []string
	for _, c := range got.Conflicts[:min(len(got.Conflicts), maxNamedConflicts)] {
		paths = append(paths, fmt.Sprintf("%s (%s)", sanitize.Line(c.Path), sanitize.Line(c.Kind)))
	}
	if more := len(got.Conflicts) - len(paths); more > 0 {
		paths = append(paths, fmt.Sprintf("%d more", more))
	}
	return "", fault.New(pawl.ErrConflict, "task %s does not fit without the tasks that are left out: conflicts in %s", t.Task.ID, strings.Join(paths, ", ")).
		Hint("Nothing was created. Name the tasks that it builds on too, or leave it out.")
}

// explainMerge prints what the branch has, and that it is not verified.
func explainMerge(w io.Writer, b pawl.Board, tasks []pawl.TaskState, name, start, tip string) {
	var ids []string
	for _, t := range tasks {
		ids = append(ids, sanitize.Line(t.Task.ID))
	}
	fmt.Fprintf(w, "Branch %s at %s has %s on top of %s.\n", name, humanize.Commit(tip), strings.Join(ids, ", "), humanize.Commit(start))
	for _, t := range tasks {
		for _, before := range t.Task.After {
			if !slices.Contains(ids, before) {
				fmt.Fprintf(w, "%s was planned after %s, which is left out.\n", sanitize.Line(t.Task.ID), sanitize.Line(before))
			}
		}
	}
	fmt.Fprintf(w, "Not proven: the gate has not run on these tasks alone. To verify them, run:\n  %s\n", gateLine(b.Mission.Order.Checks, name, start))
}

// gateLine is the command that verifies a branch: with the checks that the user gave the mission, or those of the
// project.
func gateLine(checks []pawl.Check, name, start string) string {
	line := shellLine("pawl", "gate", "--base", start, "--head", name, "--require", "proven")
	switch len(checks) {
	case 0:
		return line
	case 1:
		return line + " -- " + shellLine(checks[0].Args...)
	}
	var all []string
	for _, c := range checks {
		all = append(all, shellLine(c.Args...))
	}
	return line + " -- " + shellLine("sh", "-c", strings.Join(all, " && "))
}
