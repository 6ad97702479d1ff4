package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxFixes bounds the survivors and gaps that one prompt lists.
const maxFixes = 40

// checkFixable returns an error unless the change ends with what is checked out: the agent works there.
func (f *gateFlags) checkFixable(ctx context.Context) error {
	repo, err := openRepo(ctx)
	if err != nil {
		return err
	}
	at, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	tip, err := repo.Commit(ctx, f.head)
	if err != nil {
		return fmt.Errorf("--head: %w", err)
	}
	status, err := repo.Status(ctx)
	switch {
	case err != nil:
		return err
	case tip != at:
		return fault.New(pawl.ErrInvalid, "--fix works on the commit that is checked out, and %s is another one", f.head).Hint("Run `git checkout %s` first.", f.head)
	case len(status.Files) > 0:
		return fault.New(pawl.ErrInvalid, "--fix needs a working directory without changes").Hint("Commit or stash them first.")
	}
	return nil
}

// fix has an agent write tests for what the tests do not show, in the working directory. It commits nothing.
func (f *gateFlags) fix(cmd *cobra.Command, p gate.Proof) error {
	text := fixPrompt(p)
	if text == "" || p.Verdict == experiment.Failed {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: --fix: there is nothing to fix with tests")
		return nil
	}
	settings, err := f.Settings()
	if err != nil {
		return err
	}
	if settings.Model == "" {
		if settings.Model, err = turn.DefaultModel(cmd.Context()); err != nil {
			return err
		}
	}
	repo, err := openRepo(cmd.Context())
	if err != nil {
		return err
	}
	err = cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
		f.PrintTrustNotice(ctx, a, repo.Top, cmd.ErrOrStderr())
		s, err := a.Create(ctx, pawl.NewSession{Dir: repo.Top, Title: "gate: write tests"})
		if err != nil {
			return err
		}
		seq, err := a.Send(ctx, s.ID, pawl.Prompt{Settings: settings, Parts: pawl.Parts{pawl.Text{Text: text}}})
		if err != nil && seq == 0 {
			return errors.Join(err, a.Delete(ctx, s.ID)) // no turn was started
		}
		if err != nil {
			return err
		}
		out := turn.OutputFlags{Format: "text"}
		return turn.EndSession(cmd, a, s.ID, out.Follow(cmd, a, s, 0, out.Asker(cmd, a), turn.EndOfTurn(seq)))
	})
	return errors.Join(err, printFixed(cmd, repo))
}

// printFixed prints what the agent changed.
func printFixed(cmd *cobra.Command, repo *git.Repo) error {
	status, err := repo.Status(cmd.Context())
	if err != nil {
		return err
	}
	w := cmd.ErrOrStderr()
	if len(status.Files) == 0 {
		_, err = fmt.Fprintln(w, "pawl: the agent changed no files")
		return err
	}
	for _, c := range status.Files {
		fmt.Fprintf(w, "pawl: changed: %s\n", sanitize.Line(c.Path))
	}
	_, err = fmt.Fprintln(w, "pawl: review the changes, commit them, and run the gate again")
	return err
}

// fixPrompt lists what the tests do not show, or returns "" if there is nothing.
func fixPrompt(p gate.Proof) string {
	var list []string
	for _, g := range p.Findings {
		if g.Kind == experiment.Gap && g.Rule != "survivors" {
			first, _, _ := strings.Cut(g.Text, "\n")
			list = append(list, sanitize.Line(first))
		}
	}
	for _, s := range p.Mutants.Survived {
		list = append(list, fmt.Sprintf("%s:%d: no test fails if `%s` is replaced by `%s`", sanitize.Line(s.Path), s.Line, sanitize.Line(strings.TrimSpace(s.Before)), sanitize.Line(strings.TrimSpace(s.After))))
	}
	if len(list) == 0 {
		return ""
	}
	return `The tests of this project do not show that the last change is right. A tool made mistakes in the changed lines on purpose, and the tests did not notice:

- ` + strings.Join(list[:min(len(list), maxFixes)], "\n- ") + `

Write tests that fail with each of these mistakes and pass with the code as it is. Follow the conventions of the existing tests, and assert what the code is meant to do; read it and its callers to find out. Do not change product code, do not weaken or delete existing tests, and do not compare the text of the source. If a mistake changes nothing that can be observed, leave it out and say so. If a line is wrong, do not write a test for the wrong result: report it. Run the tests at the end. Do not commit.`
}
