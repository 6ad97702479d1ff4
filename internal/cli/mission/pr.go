package mission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// prFlags are the flags of 'pawl mission pr'.
type prFlags struct {
	branch, remote, base string
	push, create, draft  bool
}

func missionPRCommand() *cobra.Command {
	var f prFlags
	cmd := &cobra.Command{
		Use:   "pr [id]",
		Short: "Create a branch and the text of a pull request",
		Long: `Create a branch with the result of a sealed mission, and print the text of a pull request
with the evidence: the goal, the changes of each task, the verdict of the gate, the
checks with their exit codes, how each criterion was shown, and the cost. Without an id,
use the newest mission of this directory.

Nothing is pushed without --push, which runs your git with your credentials, and never
forces. --create creates the pull request with gh (GitHub) or glab (GitLab), if the
remote is on such a host, and prints what the program prints instead of the text.

Exit codes: 0 done, 1 error, 2 wrong usage, 6 not sealed and no --draft, 130 canceled.`,
		Example: `  pawl mission pr
  pawl mission pr --push --create
  pawl mission pr 8Q4Z7K --branch add-retries --base develop --push --create
  pawl mission pr > text.md`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var here missionTarget
			return here.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd, a, s)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.branch, "branch", "", "create this branch (default \"pawl/pr-\" and the end of the id)")
	flags.StringVar(&f.remote, "remote", "origin", "push to this `remote`")
	flags.StringVar(&f.base, "base", "", "merge into this branch (default: the project's default branch)")
	flags.BoolVar(&f.push, "push", false, "push the branch")
	flags.BoolVar(&f.create, "create", false, "create the pull request with gh or glab")
	flags.BoolVar(&f.draft, "draft", false, "create a draft; needed if the mission is not sealed")
	return cmd
}

// pullRequest is a pull request to create.
type pullRequest struct {
	prFlags

	id          pawl.SessionID
	commit      string
	title, text string
	vcs         userProgram // git
	notes       io.Writer
}

func (f *prFlags) run(ctx context.Context, cmd *cobra.Command, a *app.App, s pawl.Session) error {
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	if b.State != pawl.MissionSealed && !f.draft {
		return &cli.ExitError{Code: cli.ExitGate, Err: fault.New(pawl.ErrInvalid, "mission %s is %s, not sealed", s.ID, b.State).
			Hint("Continue it with `pawl mission resume`, or pass --draft to show what it has so far.")}
	}
	trees, err := treesOf(ctx, a, b.Session.Dir)
	if err != nil {
		return err
	}
	p, err := f.prepare(ctx, cmd, a, trees, b)
	if err != nil {
		return err
	}
	if err := createBranch(ctx, trees.Repo, p.branch, p.commit); err != nil {
		return err
	}
	fmt.Fprintf(p.notes, "pawl: branch %s is at %s\n", p.branch, humanize.Commit(p.commit))
	if f.push {
		if err := p.pushBranch(ctx); err != nil {
			return err
		}
	}
	if f.create {
		return p.createOnForge(ctx, cmd.OutOrStdout(), trees.Repo.Top)
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), p.text); err != nil {
		return err
	}
	p.explainNext(ctx, trees.Repo.Top)
	return nil
}

// prepare writes the text of the pull request.
func (f *prFlags) prepare(ctx context.Context, cmd *cobra.Command, a *app.App, trees *worktree.Trees, b pawl.Board) (*pullRequest, error) {
	p := &pullRequest{prFlags: *f, id: b.Session.ID, notes: cmd.ErrOrStderr()}
	p.branch = cmp.Or(p.branch, defaultBranch("pr", p.id))
	for _, name := range []string{p.branch, p.base} {
		if err := git.CheckRef(name); err != nil && name != "" {
			return nil, cli.UsageError(cmd, err)
		}
	}
	span, err := mission.Whole(&b.Mission)
	if err != nil {
		return nil, err
	}
	p.commit = span.Commit
	files := map[string][]git.FileStat{}
	for _, t := range b.Mission.In(pawl.PhaseMerged) {
		part, err := mission.TaskSpan(ctx, trees, b.Session.ID, &b.Mission, t)
		if err == nil {
			files[t.Task.ID], err = trees.Repo.FileStats(ctx, part.Base, part.Commit)
		}
		if err != nil {
			return nil, err
		}
	}
	report, err := mission.ReportOf(ctx, a, b)
	if err != nil {
		return nil, err
	}
	p.title, p.text = humanize.FirstLine(report.Goal, 72), report.PullRequest(files)
	p.vcs, err = findProgram("git", trees.Repo.Top, p.notes)
	return p, err
}

// defaultBranch returns the name of a branch for a mission, unless the user gives one.
func defaultBranch(purpose string, id pawl.SessionID) string {
	return "pawl/" + purpose + "-" + strings.ToLower(string(id[len(id)-6:]))
}

// createBranch creates a branch. It succeeds if the branch is at the commit already.
func createBranch(ctx context.Context, repo *git.Repo, name, commit string) error {
	ref := "refs/heads/" + name
	_, err := repo.Run(ctx, git.Call{Args: []string{"update-ref", "--no-deref", "-m", "pawl: create a branch", ref, commit, strings.Repeat("0", len(commit))}})
	var failed *git.Failed
	if !errors.As(err, &failed) {
		return err
	}
	if at, err := repo.Commit(ctx, ref); err != nil || at != commit {
		return fault.New(pawl.ErrConflict, "branch %s exists and has other commits, or its name conflicts with another branch", name).Hint("Choose another name with --branch.")
	}
	return nil
}

func (p *pullRequest) pushBranch(ctx context.Context) error {
	if err := git.CheckRef(p.remote); err != nil {
		return fault.New(pawl.ErrInvalid, "invalid name of a remote %.100q", p.remote)
	}
	if _, err := p.vcs.run(ctx, "push", p.remote, p.commit+":refs/heads/"+p.branch); err != nil {
		return fault.New(pawl.ErrInvalid, "push %s to %s: %w", p.branch, p.remote, err).Hint("Run `%s` to see the problem.", p.pushLine())
	}
	fmt.Fprintf(p.notes, "pawl: pushed %s to %s\n", p.branch, p.remote)
	return nil
}

func (p *pullRequest) pushLine() string { return shellLine("git", "push", p.remote, p.branch) }

// forge returns the program that creates pull requests for the remote, with its arguments except for the text.
func (p *pullRequest) forge(ctx context.Context, top string) (userProgram, []string, error) {
	address, err := remoteURL(ctx, p.vcs, p.remote)
	if err != nil {
		return userProgram{}, nil, fault.New(pawl.ErrNotFound, "remote %s not found: %w", p.remote, err).Hint("Add it with `git remote add`, or choose another with --remote.")
	}
	to, ok := projectOf(address)
	if !ok {
		return userProgram{}, nil, fault.New(pawl.ErrInvalid, "remote %s (%s) is not on a known GitHub or GitLab host", p.remote, sanitize.Line(address)).
			Hint("Set GH_HOST or GITLAB_HOST to its host, or create the pull request in a browser.")
	}
	program, err := findProgram(to.program(), top, p.notes)
	if err != nil {
		return program, nil, err
	}
	args := []string{"pr", "create", "--repo", to.host + "/" + to.path, "--head", p.branch, "--title", p.title}
	target := "--base"
	if to.forge == forgeGitLab {
		args = []string{"mr", "create", "--yes", "--repo", "https://" + to.host + "/" + to.path, "--source-branch", p.branch, "--title", p.title}
		target = "--target-branch"
	}
	if p.base != "" {
		args = append(args, target, p.base)
	}
	if p.draft {
		args = append(args, "--draft")
	}
	return program, args, nil
}

// createOnForge creates the pull request and prints what gh or glab prints: its address.
func (p *pullRequest) createOnForge(ctx context.Context, w io.Writer, top string) error {
	program, args, err := p.forge(ctx, top)
	if err != nil {
		return err
	}
	if args[0] == "mr" {
		args = append(args, "--description", p.text)
	} else {
		args = append(args, "--body-file", "-")
		program.in = strings.NewReader(p.text)
	}
	out, err := program.run(ctx, args...)
	if err != nil {
		hint := "The message above says why."
		if !p.push {
			hint = "If the branch is not on the remote yet, pass --push."
		}
		return fault.New(pawl.ErrInvalid, "create a pull request: %w", err).Hint("%s", hint)
	}
	_, err = io.WriteString(w, out)
	return err
}

// explainNext prints the commands that publish the pull request.
func (p *pullRequest) explainNext(ctx context.Context, top string) {
	var lines []string
	if !p.push {
		lines = append(lines, p.pushLine())
	}
	program, args, err := p.forge(ctx, top)
	switch create := shellLine(append([]string{program.name}, args...)...); {
	case err != nil:
	case args[0] == "mr":
		lines = append(lines, create+` --description "$(`+p.textLine()+`)"`)
	default:
		lines = append(lines, p.textLine()+" | "+create+" --body-file -")
	}
	if len(lines) > 0 {
		fmt.Fprintf(p.notes, "pawl: to publish it, run:\n  %s\n", strings.Join(lines, "\n  "))
	}
	if err != nil {
		fmt.Fprintf(p.notes, "pawl: create the pull request with this text in a browser: %s\n", fault.Text(err))
	}
}

// textLine is the command that prints the text.
func (p *pullRequest) textLine() string {
	words := []string{"pawl", "mission", "pr", string(p.id), "--branch", p.branch}
	if p.draft {
		words = append(words, "--draft")
	}
	return shellLine(words...)
}
