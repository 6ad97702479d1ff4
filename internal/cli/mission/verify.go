package mission

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

func missionVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [id]",
		Short: "Verify a mission: check the evidence and rerun the gate",
		Long: `Verify a mission, without a model. Pawl runs the gate again on the sealed commit, or on
the tip of the mission's branch if it is not sealed, with the checks that were fixed at
the start. It verifies the evidence chain in the log, and that the branch has not moved.
The recorded reviews are used. All differences are printed.

Exit codes: 0 verified, 1 error, 2 wrong usage, 6 not verified, 130 canceled.`,
		Example: `  pawl mission verify
  pawl mission verify 8Q4Z7K`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var here missionTarget
			return here.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				b, err := a.Mission(ctx, s.ID)
				if err != nil {
					return err
				}
				e, err := mission.ReadEvidence(mission.Log(ctx, a, b.Session))
				if err != nil {
					return err
				}
				return verifyMission(ctx, cmd, a, b, e)
			})
		},
	}
}

// verifyMission verifies the evidence in the log and runs the gate again. It prints everything that differs.
func verifyMission(ctx context.Context, cmd *cobra.Command, a *app.App, b pawl.Board, e mission.Evidence) error {
	m := b.Mission
	if m.Criteria == nil {
		return &cli.ExitError{Code: cli.ExitGate, Err: fault.New(pawl.ErrInvalid, "nothing to verify: the mission has no criteria yet").Hint("Run `pawl mission status` to see its progress.")}
	}
	repo, err := app.RepoOf(ctx, b.Session.Dir)
	if err != nil {
		return err
	}
	v := verification{notes: cmd.ErrOrStderr(), out: cmd.OutOrStdout(), mission: m, evidence: e}
	v.log()
	candidate, err := v.branch(ctx, repo)
	if err != nil {
		return err
	}
	if err := v.runGate(ctx, a, repo, candidate); err != nil {
		return err
	}
	if v.wrong > 0 {
		return &cli.ExitError{Code: cli.ExitGate, Err: fmt.Errorf("mission %s not verified: %s", b.Session.ID, humanize.Plural(v.wrong, "problem"))}
	}
	_, err = fmt.Fprintf(v.out, "Verified: %.12s passes the gate; evidence chain %s\n", candidate, e.Chain)
	return err
}

// verification prints and counts the differences.
type verification struct {
	notes, out io.Writer
	mission    pawl.Mission
	evidence   mission.Evidence
	wrong      int
}

func (v *verification) differs(rule, format string, args ...any) {
	v.wrong++
	fmt.Fprintf(v.out, "%s: %s\n", sanitize.Line(rule), sanitize.Text(fmt.Sprintf(format, args...)))
}

// log verifies the chain of evidence and the hash of the criteria.
func (v *verification) log() {
	m := v.mission
	if v.evidence.Chain.Fault != "" {
		v.differs("chain-broken", "%s", v.evidence.Chain.Fault)
	}
	if m.Criteria.Hash() != m.Hash || m.Sealed != nil && m.Sealed.Criteria != m.Hash {
		v.differs("frozen-changed", "the criteria do not match their hash")
	}
}

// branch returns the commit to check, and verifies that the mission's branch has not moved.
func (v *verification) branch(ctx context.Context, repo *git.Repo) (candidate string, err error) {
	m := v.mission
	tip, err := repo.Commit(ctx, "refs/heads/"+m.Branch)
	switch {
	case errors.Is(err, pawl.ErrNotFound) && m.Sealed != nil:
		fmt.Fprintf(v.notes, "pawl: note: branch %s not found, verifying the sealed commit\n", sanitize.Line(m.Branch))
	case err != nil:
		return "", err
	case tip != m.Tip:
		v.differs("branch-moved", "%s is at %.12s, but the mission left it at %.12s. Run `git diff %.12s %.12s` to see the difference, or `git branch -f %s %.12s` to restore it.", m.Branch, tip, m.Tip, m.Tip, tip, m.Branch, m.Tip)
	}
	if m.Sealed != nil {
		return m.Sealed.Candidate, nil
	}
	return tip, nil
}

// runGate runs the gate on the candidate again.
func (v *verification) runGate(ctx context.Context, a *app.App, repo *git.Repo, candidate string) error {
	g, err := app.OpenGate(repo, a.Policy)
	if err != nil {
		return err
	}
	defer func() { _ = g.Close() }() // a leftover temporary file does no harm
	p, err := g.Prove(ctx, *v.mission.Criteria, candidate, 0, func(r pawl.CheckRun) {
		fmt.Fprintf(v.notes, "pawl: %s on %s: %s\n", r.Check, r.On, gate.Summary(r))
	})
	if err != nil {
		return err
	}
	for _, f := range p.Faults(*v.mission.Criteria) {
		v.differs(f.Rule, "%s", f.Text)
	}
	if !v.evidence.Reviewed(candidate) {
		v.differs("not-reviewed", "no reviewer has approved commit %.12s", candidate)
	}
	if m := v.mission; m.Sealed != nil && p.Tree != "" && p.Tree != m.Sealed.Tree {
		v.differs("tree-changed", "commit %.12s has tree %.12s, but tree %.12s was sealed", candidate, p.Tree, m.Sealed.Tree)
	}
	return nil
}
