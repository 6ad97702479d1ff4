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
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

func missionVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [id]",
		Short: "Have a mission judged again: run the gate anew, and verify the evidence",
		Long: `Have a mission judged again, without a model. The gate runs anew on the sealed commit, or
on the tip of the mission's branch if it is not sealed, with the checks that were frozen
when it began. The chain of evidence in the log is verified, and that the branch is where
the mission has left it. What is suspicious counts as judged if reviewers have judged it.
All that differs is told.

Exit codes: 0 it holds, 1 error, 2 usage, 6 something differs, 130 canceled.`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var here missionTarget
			return here.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				b, err := a.Mission(ctx, s.ID)
				if err != nil {
					return err
				}
				e, err := mission.ReadEvidence(cli.SessionLog(ctx, a, b.Session))
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
		return &cli.ExitError{Code: cli.ExitGate, Err: errors.New("nothing is frozen yet, so there is nothing to verify: 'pawl mission status' says how far it is")}
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
		return &cli.ExitError{Code: cli.ExitGate, Err: fmt.Errorf("mission %s does not hold: %d reasons", b.Session.ID, v.wrong)}
	}
	_, err = fmt.Fprintf(v.out, "holds: nothing speaks against %.12s; the chain of evidence is %s\n", candidate, e.Chain)
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
		v.differs("frozen-changed", "what had to hold is not what its hash says")
	}
}

// branch returns the commit to check, and verifies that the mission's branch has not moved.
func (v *verification) branch(ctx context.Context, repo *git.Repo) (candidate string, err error) {
	m := v.mission
	tip, err := repo.Commit(ctx, "refs/heads/"+m.Branch)
	switch {
	case errors.Is(err, pawl.ErrNotFound) && m.Sealed != nil:
		fmt.Fprintf(v.notes, "pawl: note: there is no branch %s any more: the sealed commit is looked at\n", sanitize.Line(m.Branch))
	case err != nil:
		return "", err
	case tip != m.Tip:
		v.differs("branch-moved", "%s is at %.12s, and the mission has left it at %.12s: 'git diff %.12s %.12s' shows what came; 'git branch -f %s %.12s' puts it back", m.Branch, tip, m.Tip, m.Tip, tip, m.Branch, m.Tip)
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
	g.Review = v.evidence.ReviewFromLog
	g.OnRun = func(r gate.CheckResult) error {
		_, err := fmt.Fprintf(v.notes, "pawl: %s on %s: %s\n", r.Check, r.On, r.Summary())
		return err
	}
	o, err := g.Run(ctx, *v.mission.Criteria, candidate)
	if err != nil {
		return err
	}
	for _, f := range o.Faults {
		v.differs(f.Rule, "%s", f.Text)
	}
	if m := v.mission; m.Sealed != nil && o.Tree != "" && o.Tree != m.Sealed.Tree {
		v.differs("tree-changed", "the commit %.12s has the tree %.12s, and %.12s was sealed", candidate, o.Tree, m.Sealed.Tree)
	}
	return nil
}
