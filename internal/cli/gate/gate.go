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
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// gateFlags are the flags of 'pawl gate'.
type gateFlags struct {
	base, head    string
	format, file  string
	tests, report string
	network       []string
	timeout       time.Duration
	approval      pawl.Approval
	reviewed      bool
	explained     bool
}

// Command returns 'pawl gate'.
func Command() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate [flags] [-- command [argument…]]",
		Short: "Verify a change: run its checks and detect weakened tests",
		Long: `Verify a committed change. Pawl runs the project's checks on the commit that the change
is based on and on its last commit, each in a clean checkout, in the sandbox, without
network access. Then it compares the results:

  - checks and tests that passed on the base must still pass
  - no test may be removed or skipped (renamed tests are recognized)
  - the tests of the base must pass on the new code, so that none is weakened
  - new tests must fail on the old code, and must not be flaky
  - files that define the checks (CI, linters, test runners) must not change
  - nothing may silence a check or detect that it is being tested

Without a command, Pawl runs the checks that it finds in the project: the builds,
linters and tests of most languages and build tools, or the test commands that AGENTS.md
or CI files name. --explain prints them. Uncommitted changes are ignored.

Exit codes: 0 passed, 1 error, 2 wrong usage, 6 not passed, 130 canceled.`,
		Example: `  pawl gate --base main                      # verify the current branch
  pawl gate --explain                        # print what it would run, and why
  pawl gate --base main -- make check        # with your own check
  pawl gate --base main --tests junit --report out.xml -- sh gradlew test
  pawl gate --base main --allow-test 'example.org/m::TestOld*'
  pawl gate --format json -o gate.json       # in CI; the text goes to the log`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "verify the changes since the merge base with this `ref` (default in CI: the target branch)")
	flags.StringVar(&f.head, "head", "HEAD", "verify the changes up to this `ref`")
	flags.StringVar(&f.format, "format", "text", "output `format`: text, json, markdown or intoto")
	flags.StringVarP(&f.file, "output", "o", "", "write the report to `file`, and print text")
	flags.StringVar(&f.tests, "tests", "", "test report `format` of the command: "+strings.Join(gate.TestFormats(), ", "))
	flags.StringVar(&f.report, "report", "", "test report `file` of the command, or a pattern for several (default: its output)")
	flags.StringSliceVar(&f.network, "network", nil, "`hosts` that the command can reach, separated by commas")
	flags.DurationVar(&f.timeout, "timeout", 20*time.Minute, "stop a check after this `duration`")
	flags.StringArrayVar(&f.approval.Tests, "allow-test", nil, "allow the tests that match this `pattern` to be removed, changed or passing on the base (repeatable)")
	flags.StringArrayVar(&f.approval.Files, "allow-file", nil, "allow changes to the protected files that match this `pattern` (repeatable)")
	flags.BoolVar(&f.reviewed, "reviewed", false, "treat suspicious changes as reviewed")
	flags.BoolVar(&f.explained, "explain", false, "print the checks and why they were found, without running them")
	cli.GroupFlags(cmd, cli.FlagsChange, "base", "head")
	cli.GroupFlags(cmd, cli.FlagsChecks, "explain", "tests", "report", "network", "timeout", "allow-test", "allow-file", "reviewed")
	cli.GroupFlags(cmd, cli.FlagsOutput, "format", "output")
	flags.SetInterspersed(false) // flags after the command belong to the command
	return cmd
}

// checks validates the flags. It returns the command in args as a check, or nil if there is no
// command.
func (f *gateFlags) checks(args []string) ([]pawl.Check, error) {
	if formats := []string{"text", "json", "markdown", "intoto"}; !slices.Contains(formats, f.format) {
		return nil, cli.Unknown("format", f.format, formats)
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
	ctx := cmd.Context()
	g, criteria, candidate, err := f.prepare(ctx, cmd.ErrOrStderr(), checks)
	if err != nil {
		return err
	}
	defer func() { _ = g.Close() }() // removes temporary files only
	o, err := g.Run(ctx, criteria, candidate)
	if err != nil {
		return err
	}
	if err := f.print(cmd.OutOrStdout(), criteria, o); err != nil {
		return err
	}
	if !o.Passed() {
		return &cli.ExitError{Code: cli.ExitGate, Err: fmt.Errorf("gate not passed: %s", humanize.Plural(len(o.Faults), "problem"))}
	}
	return nil
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
	g.OnRun = func(r gate.CheckResult) error {
		fmt.Fprintf(notes, "pawl: %s on %s: %s\n", r.Check, r.On, r.Summary())
		return nil
	}
	if f.reviewed {
		g.Review = func(context.Context, gate.Report) ([]pawl.GateFault, error) { return nil, nil }
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

// print writes the report to w in the chosen format. With --output it writes the report to the
// file, and the text to w.
func (f *gateFlags) print(w io.Writer, criteria pawl.Criteria, o gate.Outcome) error {
	if f.file == "" {
		return f.write(w, criteria, o)
	}
	var b strings.Builder
	if err := f.write(&b, criteria, o); err != nil {
		return err
	}
	if err := cli.ReplaceFile(f.file, []byte(b.String())); err != nil {
		return err
	}
	return writeGateText(w, o)
}

func (f *gateFlags) write(w io.Writer, criteria pawl.Criteria, o gate.Outcome) error {
	switch f.format {
	case "json":
		return cli.WriteJSON(w, gateReport{o.Passed(), o, criteria})
	case "markdown":
		_, err := io.WriteString(w, o.Markdown(criteria))
		return err
	case "intoto":
		text, err := o.Statement(criteria)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
		return err
	default:
		return writeGateText(w, o)
	}
}

// gateReport is the output of --format json.
type gateReport struct {
	Passed bool `json:"passed"`
	gate.Outcome
	Checks pawl.Criteria `json:"checks"`
}

// summary counts the checks and tests that ran on the candidate.
func summary(runs []pawl.CheckRun) string {
	latest := map[string]pawl.CheckRun{} // a flaky check runs more than once
	for _, r := range runs {
		if r.On == "candidate" {
			latest[r.Check] = r
		}
	}
	text, tests := humanize.Plural(len(latest), "check"), 0
	for _, r := range latest {
		if t := r.Tests; t != nil {
			tests += t.Passed + t.Failed + t.Skipped
		}
	}
	if tests > 0 {
		text += ", " + humanize.Plural(tests, "test") + ", none weakened"
	}
	return text
}

func writeGateText(w io.Writer, o gate.Outcome) error {
	var b strings.Builder
	for _, f := range o.Faults {
		fmt.Fprintf(&b, "%s: %s\n", f.Rule, sanitize.Text(f.Text))
	}
	if o.Passed() {
		fmt.Fprintf(&b, "Passed: %s (%.12s)\n", summary(o.Runs), o.Candidate)
	}
	for _, name := range o.Before {
		fmt.Fprintf(&b, "note: %s also fails on the base\n", sanitize.Line(name))
	}
	for _, name := range o.Flaky {
		fmt.Fprintf(&b, "note: %s is flaky, also on the base\n", sanitize.Line(name))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
