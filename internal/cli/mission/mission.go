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
	"github.com/pawl-dev/pawl/internal/suggest"
)

// missionFlags are the flags of 'pawl mission'.
type missionFlags struct {
	turn.SettingsFlags
	turn.OutputFlags
	order    pawl.MissionOrder
	criteria []string
	checks   []string
	server   string
}

// Command returns 'pawl mission' with its subcommands.
func Command() *cobra.Command {
	var f missionFlags
	cmd := &cobra.Command{
		Use:   "mission [flags] goal…",
		Short: "Have a team work on a goal until it is proven to be reached",
		Long: `Have a team work on a goal in this git repository until it is proven to be reached.

A Commander plans and leads, workers change copies of the project side by side, each in
a sandbox, and pawl merges what they leave, one task at a time, after it has run the
checks. The mission is sealed only when pawl's own gate finds nothing against what is
merged: see 'pawl gate'. Otherwise it ends when the Commander says what it needs a person
for, or when a limit is reached. Your files and branches stay as they are; the work is on
a branch of its own, to be merged by you.

The plan is in .pawl/missions/<id>/TODO.md while it runs: edits are taken in.
Should pawl be killed, 'pawl mission resume' goes on from there.

Exit codes: 0 sealed, 1 error, 2 usage, 3 permission denied, 4 a limit was reached,
5 the model failed, 6 not sealed, 130 canceled.`,
		Example: `  pawl mission "add retries to the client, with tests"
  pawl mission --workers 5 --max-cost 20 "port the parser to the new lexer"
  pawl mission --criterion "no public name changes" --check "make check" "split package store"
  pawl mission --format json "fix the flaky tests" | jq -r .branch
  pawl mission status --watch`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.SettingsFlags.Add(cmd)
	f.OutputFlags.Add(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.order.Workers, "workers", 0, fmt.Sprintf("how many work at once (default %d)", pawl.MissionWorkers))
	flags.StringVar(&f.order.Model, "worker-model", "", "the workers' `model` (default: the Commander's)")
	flags.StringArrayVar(&f.order.Reviewers, "reviewer", nil, "a reviewer's `model` (repeatable; default: one with the Commander's)")
	flags.StringArrayVar(&f.criteria, "criterion", nil, "what must hold in the end, in your `words` (repeatable)")
	flags.StringArrayVar(&f.checks, "check", nil, "a `command` that must pass, in place of the project's own checks (repeatable)")
	flags.StringArrayVar(&f.order.Protected, "protect", nil, "files that must stay as they are: a `pattern` with * (repeatable)")
	flags.StringArrayVar(&f.order.Approval.Files, "agree-file", nil, "protected files that may change: a `pattern` with *")
	flags.StringArrayVar(&f.order.Approval.Tests, "agree-test", nil, "tests that may go or change: a `pattern` with *")
	flags.DurationVar(&f.order.Stuck, "stuck", 0, fmt.Sprintf("a worker that gives no sign for this `time` is asked, and then ended (default %s)", pawl.MissionStuck))
	flags.StringVar(&f.server, "attach", "", "have a server do the work: its `url`, or unix for the one on this machine's socket")
	cmd.AddCommand(missionStatusCommand(), missionListCommand(), missionShowCommand(), missionStopCommand(), missionResumeCommand(), missionReportCommand(), missionVerifyCommand())
	return cmd
}

func (f *missionFlags) run(cmd *cobra.Command, args []string) error {
	n, err := f.mission(cmd, args)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	ctx := cmd.Context()
	if f.server == "" {
		if err := checkRepo(ctx, n.Dir); err != nil {
			return err
		}
	}
	a, err := app.OpenAt(ctx, f.server)
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
	return followMission(cmd, a, f.OutputFlags, s, 0)
}

// checkRepo returns an error if no mission can run in dir: it needs a git repository with a commit, and a recent
// version of git.
func checkRepo(ctx context.Context, dir string) error {
	repo, err := app.RepoOf(ctx, dir)
	if err != nil {
		return fmt.Errorf("a mission needs a git repository: go to one, or make one with 'git init' and a commit: %w", err)
	}
	if err := repo.AtLeast(app.MissionGitMajor, app.MissionGitMinor); err != nil {
		return err
	}
	if _, err := repo.Commit(ctx, "HEAD"); err != nil {
		return fmt.Errorf("a mission begins at a commit: make one with 'git commit': %w", err)
	}
	return nil
}

// mission checks the flags and arguments, and returns the mission to start.
func (f *missionFlags) mission(cmd *cobra.Command, args []string) (pawl.NewMission, error) {
	n := pawl.NewMission{Order: f.order}
	if err := f.Check(); err != nil {
		return n, err
	}
	n.Order.Goal = strings.TrimSpace(strings.Join(args, " "))
	if n.Order.Goal == "" {
		return n, errors.New("say what the goal is, in quotes")
	}
	if meant := suggestCommand(cmd, args); meant != "" {
		return n, fmt.Errorf("%q is no command: did you mean 'pawl mission %s'? A goal has more than one word", args[0], meant)
	}
	for i, text := range f.criteria {
		n.Order.Criteria = append(n.Order.Criteria, pawl.Criterion{ID: fmt.Sprintf("U%d", i+1), Text: text})
	}
	for i, line := range f.checks {
		c := pawl.Check{ID: fmt.Sprintf("check-%d", i+1), Kind: pawl.CheckOther, Args: strings.Fields(line), Timeout: 20 * time.Minute}
		if len(c.Args) == 0 {
			return n, errors.New("--check: name a command")
		}
		n.Order.Checks = append(n.Order.Checks, c)
	}
	if err := useMissionConfig(cmd, &n.Order); err != nil {
		return n, err
	}
	if err := n.Order.Check(); err != nil {
		return n, err
	}
	var err error
	if n.Settings, err = f.Settings(); err != nil {
		return n, err
	}
	n.Settings.Absent = !f.Attended(cmd)
	n.Dir, err = os.Getwd()
	return n, err
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
