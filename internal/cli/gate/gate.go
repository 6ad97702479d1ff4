// Package gate implements the commands that verify a change: 'pawl gate' and 'pawl review'.
package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// gateFlags are the flags of 'pawl gate'.
type gateFlags struct {
	turn.SettingsFlags // of the agent of --fix

	base, head    string
	format, file  string
	signKey       string
	tests, report string
	network       []string
	timeout       time.Duration
	budget        time.Duration
	require       string
	approval      pawl.Approval
	explained     bool
	fixing        bool
}

// Command returns 'pawl gate'.
func Command() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate [flags] [-- command [argument…]]",
		Short: "Verify a change: break it, and see if the tests notice",
		Long: `Verify a committed change by experiments. Pawl runs the project's checks on the commit
that the change is based on and on its last commit, each in a clean checkout, in the
sandbox, without network access. Then it runs the tests of one on the code of the other,
adds mistakes and failing tests, and makes mistakes in the changed lines, to see whether
the checks notice. No model takes
part, except with --fix.

  proven           nothing fails, and the tests notice mistakes in the changed lines
  checked          nothing fails, but the tests do not show that the change is right
  no code changed  documentation, configuration or tests only, and no test is weaker
  failed           a check fails, a test of the base no longer holds, or the results of
                   the checks cannot be trusted

Without a command, Pawl runs the checks that it finds in the project: the builds,
linters and tests of most languages and build tools, or the test commands that AGENTS.md
or CI files name. --explain prints them. Uncommitted changes are ignored.

--fix hands the mistakes that no test noticed to an agent, which writes tests in the
working directory. The flags for models, permissions and limits are for this agent.

Exit codes: 0 not failed, 1 error, 2 wrong usage, 6 failed, or not as --require asks,
130 canceled.`,
		Example: `  pawl gate --base main                      # verify the current branch
  pawl gate --explain                        # print what it would run, and why
  pawl gate --base main -- make check        # with your own check
  pawl gate --base main --tests junit --report out.xml -- sh gradlew test
  pawl gate --base main --allow-test 'example.org/m::TestOld*'
  pawl gate --base main --fix                # have an agent write the missing tests
  pawl gate --require proven --format json -o gate.json   # in CI; the text goes to the log`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "verify the changes since the merge base with this `ref` (default in CI: the target branch)")
	flags.StringVar(&f.head, "head", "HEAD", "verify the changes up to this `ref`")
	flags.StringVar(&f.format, "format", "text", "output `format`: "+humanize.Join(formats, "or")+" (default in GitHub workflows: github)")
	flags.StringVar(&f.signKey, "sign-key", "", "sign the in-toto statement with the Ed25519 or ECDSA key in this PEM `file`")
	flags.StringVarP(&f.file, "output", "o", "", "write the report to `file`, and print text")
	flags.StringVar(&f.tests, "tests", "", "test report `format` of the command: "+strings.Join(gate.TestFormats(), ", "))
	flags.StringVar(&f.report, "report", "", "test report `file` of the command, or a pattern for several (default: its output)")
	flags.StringSliceVar(&f.network, "network", nil, "`hosts` that the command can reach, separated by commas")
	flags.DurationVar(&f.timeout, "timeout", 20*time.Minute, "stop a check after this `duration`")
	flags.DurationVar(&f.budget, "budget", 5*time.Minute, "try mistakes in the changed lines for this `duration`")
	flags.StringVar(&f.require, "require", "checked", "exit with 6 unless the verdict is at least this `verdict`: checked or proven")
	flags.StringArrayVar(&f.approval.Tests, "allow-test", nil, "approve that the tests that match this `pattern` change or go (repeatable)")
	flags.BoolVar(&f.explained, "explain", false, "print the checks and why they were found, without running them")
	flags.BoolVar(&f.fixing, "fix", false, "have an agent write tests for what the tests do not show; it commits nothing")
	f.AddAllButAgent(cmd)
	cli.GroupFlags(cmd, cli.FlagsChange, "base", "head", "fix")
	cli.GroupFlags(cmd, cli.FlagsChecks, "explain", "tests", "report", "network", "timeout", "budget", "require", "allow-test")
	cli.GroupFlags(cmd, cli.FlagsOutput, "format", "output", "sign-key")
	flags.SetInterspersed(false) // flags after the command belong to the command
	return cmd
}

// checks validates the flags. It returns the command in args as a check, or nil if there is no
// command.
func (f *gateFlags) checks(args []string) ([]pawl.Check, error) {
	if !slices.Contains(formats, f.format) {
		return nil, cli.Unknown("format", f.format, formats)
	}
	if f.signKey != "" && f.format != "intoto" {
		return nil, errors.New("--sign-key needs --format intoto")
	}
	if verdicts := []string{"checked", "proven"}; !slices.Contains(verdicts, f.require) {
		return nil, cli.Unknown("verdict", f.require, verdicts)
	}
	if len(args) == 0 {
		if f.tests != "" || f.report != "" || len(f.network) > 0 {
			return nil, errors.New("--tests, --report and --network need a command: add it after --")
		}
		return nil, nil
	}
	if f.tests != "" && !slices.Contains(gate.TestFormats(), f.tests) {
		return nil, fmt.Errorf("invalid --tests %q: use one of %s", f.tests, strings.Join(gate.TestFormats(), ", "))
	}
	c := pawl.Check{ID: "command", Kind: pawl.CheckTest, Args: args, Tests: f.tests, Report: f.report, Network: f.network, Timeout: f.timeout}
	return []pawl.Check{c}, nil
}

func (f *gateFlags) run(cmd *cobra.Command, args []string) error {
	checks, err := f.checks(args)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	if f.explained {
		return f.explainChecks(cmd, checks)
	}
	if f.fixing {
		if err := f.checkFixable(cmd.Context()); err != nil {
			return err
		}
	}
	sign, err := f.signer()
	if err != nil {
		return err
	}
	criteria, p, err := f.prove(cmd, checks)
	if err != nil {
		return err
	}
	if err := f.print(cmd.OutOrStdout(), report{p, criteria, experiment.Verdict(f.require), sign}); err != nil {
		return err
	}
	if f.fixing {
		if err := f.fix(cmd, p); err != nil {
			return err
		}
	}
	switch {
	case p.Meets(experiment.Verdict(f.require)):
		return nil
	case p.Verdict == experiment.Failed:
		return &cli.ExitError{Code: cli.ExitGate, Err: errors.New("gate: failed")}
	default:
		return &cli.ExitError{Code: cli.ExitGate, Err: errors.New("gate: checked, but not proven")}
	}
}

// prove runs the gate, and displays its progress on standard error.
func (f *gateFlags) prove(cmd *cobra.Command, checks []pawl.Check) (criteria pawl.Criteria, p gate.Proof, err error) {
	ctx := cmd.Context()
	shown := newProgress(cmd.ErrOrStderr())
	defer shown.stop()
	g, criteria, candidate, err := f.prepare(ctx, shown, checks)
	if err != nil {
		return criteria, p, err
	}
	defer func() { _ = g.Close() }() // removes temporary files only
	g.OnProgress = shown.update
	p, err = g.Prove(ctx, criteria, candidate, f.budget, shown.ran)
	return criteria, p, err
}

// prepare returns a gate, the criteria for it, and the commit to verify. The caller closes the gate.
func (f *gateFlags) prepare(ctx context.Context, notes io.Writer, checks []pawl.Check) (*gate.Gate, pawl.Criteria, string, error) {
	var c change
	repo, err := openRepo(ctx)
	if err != nil {
		return nil, pawl.Criteria{}, "", err
	}
	candidate, err := c.resolve(ctx, repo, f.base, f.head)
	if err != nil {
		return nil, pawl.Criteria{}, "", err
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return nil, pawl.Criteria{}, "", err
	}
	if len(status.Files) > 0 {
		fmt.Fprintf(notes, "pawl: note: %s not committed, ignored by the gate\n", humanize.Plural(len(status.Files), "changed file"))
	}
	criteria, err := gate.NewCriteria(ctx, repo, c.base, checks, pawl.Criteria{Approval: f.approval})
	if err != nil {
		return nil, criteria, "", err
	}
	for i := range criteria.Checks {
		criteria.Checks[i].Timeout = cmp.Or(criteria.Checks[i].Timeout, f.timeout)
	}
	s, err := policy.Open()
	if err != nil {
		return nil, criteria, "", err
	}
	g, err := app.OpenGate(repo, s)
	if err != nil {
		return nil, criteria, "", err
	}
	return g, criteria, candidate, nil
}

func openRepo(ctx context.Context) (*git.Repo, error) {
	dir, err := app.WorkingDir()
	if err != nil {
		return nil, err
	}
	return app.RepoOf(ctx, dir)
}
