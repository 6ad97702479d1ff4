// Package mission implements 'pawl mission' and its subcommands.
package mission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// missionFlags are the flags of 'pawl mission'.
type missionFlags struct {
	turn.SettingsFlags
	turn.OutputFlags
	order    pawl.MissionOrder
	criteria []string
	checks   []string
	issue    string // where it is

	issueText string
	server    string
}

// Command returns 'pawl mission' with its subcommands.
func Command() *cobra.Command {
	var f missionFlags
	cmd := &cobra.Command{
		Use:   "mission [flags] goal…",
		Short: "Run a team of agents until a goal is verified",
		Long: `Run a team of agents on a goal in this git repository until the goal is verified.

A Commander plans and coordinates. Workers change their own worktrees in parallel, each
in a sandbox. Pawl runs the checks and merges the results, one task at a time. The
mission is sealed only when the result passes the gate (see 'pawl gate --help').
Otherwise it ends when the Commander needs a decision from you, or when it reaches a
limit. Your files and branches do not change: the result is on a separate branch for you
to merge.

With --plan-only the mission stops after planning, with exit code 0. Read and edit the
plan with 'pawl mission plan'; 'pawl mission approve' starts the work. No worker starts a
task that you have not approved as it is.

While the mission runs, you can edit its plan in .pawl/missions/<id>/TODO.md. If Pawl is
interrupted, 'pawl mission resume' continues the mission.

Exit codes: 0 sealed, 1 error, 2 wrong usage, 3 permission denied, 4 a limit was
reached, 5 the model failed, 6 not sealed, 130 canceled.`,
		Example: `  pawl mission "add retries to the client, with tests"
  pawl mission --workers 5 --max-cost 20 "port the parser to the new lexer"
  pawl mission --criterion "no public name changes" --check "make check" "split package store"
  pawl mission --issue https://github.com/owner/name/issues/7
  pawl mission --plan-only "split package store"
  pawl mission --format json "fix the flaky tests" | jq -r .branch
  pawl mission status --watch`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.AddAllButAgent(cmd)
	f.OutputFlags.Add(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.order.Workers, "workers", 0, fmt.Sprintf("work on `n` tasks at once (default %d)", pawl.MissionWorkers))
	flags.StringVar(&f.order.Model, "worker-model", "", "`model` of the workers (default: the Commander's model)")
	flags.StringArrayVar(&f.order.Reviewers, "reviewer", nil, "`model` of a reviewer (repeatable; default: one reviewer with the Commander's model)")
	flags.StringArrayVar(&f.criteria, "criterion", nil, "a `criterion` that the result must meet (repeatable)")
	flags.StringArrayVar(&f.checks, "check", nil, "a `command` that must pass, instead of the project's checks (repeatable)")
	flags.StringArrayVar(&f.order.Protected, "protect", nil, "protect the files that match this `pattern` from changes (repeatable)")
	flags.StringArrayVar(&f.order.Approval.Tests, "allow-test", nil, "allow the tests that match this `pattern` to be changed or removed (repeatable)")
	flags.DurationVar(&f.order.Stuck, "stuck", 0, fmt.Sprintf("ping a worker that makes no progress for this `duration`, then stop it (default %s)", pawl.MissionStuck))
	flags.StringVar(&f.issue, "issue", "", "make an issue the goal: the `url` of one on GitHub or GitLab, a file, or - for standard input")
	flags.BoolVar(&f.order.ApprovePlan, "plan-only", false, "stop after planning: workers start when you run 'pawl mission approve'")
	flags.StringVar(&f.server, "attach", "", "run the mission on the server at this `url`, or unix for the local socket")
	cli.GroupFlags(cmd, cli.FlagsTeam, "issue", "workers", "worker-model", "stuck", "plan-only")
	cli.GroupFlags(cmd, cli.FlagsChecks, "criterion", "check", "protect", "allow-test", "reviewer")
	cli.GroupFlags(cmd, cli.FlagsServer, "attach")
	cmd.AddCommand(missionStatusCommand(), missionListCommand(), missionShowCommand(), missionPlanCommand(), missionApproveCommand(), missionPauseCommand(), missionStopCommand(), missionResumeCommand(), missionReportCommand(), missionDiffCommand(), missionPRCommand(), missionMergeCommand(), missionVerifyCommand())
	return cmd
}

func (f *missionFlags) run(cmd *cobra.Command, args []string) error {
	if f.issue != "" {
		var err error
		if f.issueText, err = loadIssue(cmd, f.issue); err != nil {
			return err
		}
	}
	n, err := f.mission(cmd, args)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	return start(cmd, n, f.OutputFlags, f.server)
}

// Goal returns the goal of a prompt that starts a mission, /mission GOAL or /task GOAL.
func Goal(prompt string) (goal string, ok bool) {
	name, goal, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	return strings.TrimSpace(goal), name == "/mission" || name == "/task"
}

// Start runs a mission as 'pawl mission' does without further flags.
func Start(cmd *cobra.Command, goal string, settings pawl.Settings, out turn.OutputFlags, server string) error {
	n := pawl.NewMission{Order: pawl.MissionOrder{Goal: goal}, Settings: settings}
	err := useMissionConfig(cmd, &n.Order)
	if err == nil {
		err = n.Order.Check()
	}
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	if n.Dir, err = os.Getwd(); err != nil {
		return err
	}
	return start(cmd, n, out, server)
}

// start starts a mission and follows it until it ends.
func start(cmd *cobra.Command, n pawl.NewMission, out turn.OutputFlags, server string) error {
	ctx := cmd.Context()
	if server == "" {
		if err := checkRepo(ctx, n.Dir); err != nil {
			return err
		}
	}
	a, err := app.OpenAt(ctx, server)
	if err != nil {
		return err
	}
	defer a.Close()
	if n.Settings.Model == "" {
		if n.Settings.Model, err = turn.DefaultModel(ctx); err != nil {
			return err
		}
	}
	s, err := a.StartMission(ctx, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "pawl: mission %s\n", s.ID)
	return followMission(cmd, a, out, s, 0)
}

// checkRepo returns an error if no mission can run in dir: it needs a git repository with a commit, and a recent
// version of git.
func checkRepo(ctx context.Context, dir string) error {
	repo, err := app.RepoOf(ctx, dir)
	if err != nil {
		return fault.New(pawl.ErrInvalid, "a mission needs a git repository: %w", err).Hint("Run it in a repository, or create one with `git init` and a commit.")
	}
	if err := repo.AtLeast(app.MissionGitMajor, app.MissionGitMinor); err != nil {
		return err
	}
	if _, err := repo.Commit(ctx, "HEAD"); err != nil {
		return fault.New(pawl.ErrInvalid, "a mission needs a repository with at least one commit: %w", err).Hint("Run `git commit`.")
	}
	return nil
}

// mission checks the flags and arguments, and returns the mission to start.
func (f *missionFlags) mission(cmd *cobra.Command, args []string) (pawl.NewMission, error) {
	n := pawl.NewMission{Order: f.order}
	if err := f.Check(); err != nil {
		return n, err
	}
	if meant := suggestCommand(cmd, args); meant != "" {
		return n, fmt.Errorf("unknown command %q: did you mean `pawl mission %s`? A goal needs more than one word", args[0], meant)
	}
	n.Order.Goal = strings.TrimSpace(strings.Join(args, " "))
	if n.Order.Goal == "" && f.issue == "" {
		return n, errors.New("no goal given: pass it in quotes, or an issue with --issue")
	}
	for i, text := range f.criteria {
		n.Order.Criteria = append(n.Order.Criteria, pawl.Criterion{ID: fmt.Sprintf("U%d", i+1), Text: text})
	}
	for i, line := range f.checks {
		args, err := splitCommand(line)
		if err != nil {
			return n, err
		}
		n.Order.Checks = append(n.Order.Checks, pawl.Check{ID: fmt.Sprintf("check-%d", i+1), Kind: pawl.CheckOther, Args: args, Timeout: 20 * time.Minute})
	}
	if err := useMissionConfig(cmd, &n.Order); err != nil {
		return n, err
	}
	var err error
	if n.Dir, err = os.Getwd(); err != nil {
		return n, err
	}
	if f.issue != "" {
		n.Order.Goal = issueGoal(f.issue, f.issueText, n.Order.Goal)
	}
	if err := n.Order.Check(); err != nil {
		return n, err
	}
	if n.Settings, err = f.Settings(); err != nil {
		return n, err
	}
	n.Settings.Absent = !f.Attended(cmd)
	return n, nil
}

// suggestCommand returns the subcommand that a goal of one word was probably meant to be, or "".
func suggestCommand(cmd *cobra.Command, args []string) string {
	if len(args) != 1 || strings.ContainsAny(args[0], " \t\n") {
		return ""
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return suggest.Name(args[0], names)
}

// useMissionConfig sets what no flag sets from the user's configuration.
func useMissionConfig(cmd *cobra.Command, o *pawl.MissionOrder) error {
	user, err := app.LoadUser()
	if err != nil {
		return err
	}
	c, flags := user.Mission, cmd.Flags()
	if !flags.Changed("workers") {
		o.Workers = c.Workers
	}
	if !flags.Changed("worker-model") {
		o.Model = c.WorkerModel
	}
	if !flags.Changed("reviewer") {
		o.Reviewers = c.Reviewers
	}
	if !flags.Changed("stuck") {
		o.Stuck, err = c.StuckAfter()
	}
	return err
}
