package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/review"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// maxPatch is the maximum size in bytes of the patch that git produces for a change. Package review
// limits how much of it the model gets.
const maxPatch = 64 << 20

// change is a change to review or verify.
type change struct {
	dir        string // the top of the repository
	base, head string // commits; if head is "", the change ends with the files in dir
	shown      []review.File
	leftOut    []review.Left
	caveat     string   // note for the model if another commit is checked out in dir
	notes      []string // for the user
}

// readChange returns the change from the merge base of base to head or, if head is "", to the files
// in the working directory.
func readChange(ctx context.Context, base, head string) (change, error) {
	c := change{leftOut: []review.Left{}}
	repo, err := openRepo(ctx)
	if err != nil {
		return c, err
	}
	c.dir = repo.Top
	tip, err := c.resolve(ctx, repo, base, head)
	if err != nil {
		return c, err
	}
	refs := []string{c.base}
	if c.head != "" {
		refs = append(refs, c.head)
	}
	patch, err := repo.Run(ctx, git.Call{Args: review.DiffArgs(), Refs: refs, Limit: maxPatch})
	if err != nil {
		return c, fmt.Errorf("read the change: %w", err)
	}
	files, err := review.Parse(patch)
	if err != nil {
		return c, fmt.Errorf("read the change: %w", err)
	}
	// diff-tree compares two commits, so that git does not read the files of submodules.
	raw, err := repo.Run(ctx, git.Call{Args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none"}, Refs: []string{c.base, tip}, Limit: maxPatch})
	if err != nil {
		return c, fmt.Errorf("read the change: %w", err)
	}
	var leftOut []review.Left
	c.shown, leftOut = review.Choose(files)
	c.leftOut = append(append(c.leftOut, leftOut...), review.Submodules(raw)...)
	return c, c.addNotes(ctx, repo)
}

// resolve sets the commits of the change. It returns the last commit: that of head or, if head is
// "", HEAD.
func (c *change) resolve(ctx context.Context, repo *git.Repo, base, head string) (tip string, err error) {
	if base == "" {
		base = policy.Base()
	}
	if base == "" {
		return "", &cli.ExitError{Code: cli.ExitUsage, Err: errors.New("no base to compare with: pass a branch with --base, e.g. --base main")}
	}
	from, err := repo.Commit(ctx, base)
	if err != nil {
		return "", fault.New(pawl.ErrNotFound, "--base: %w", err).Hint("Fetch it with `git fetch origin`, and pass its local name, e.g. origin/main.")
	}
	if tip, err = repo.Head(ctx); err != nil {
		return "", err
	}
	if head != "" {
		at := tip
		if tip, err = repo.Commit(ctx, head); err != nil {
			return "", fmt.Errorf("--head: %w", err)
		}
		c.head = tip
		if tip != at {
			c.caveat = "The working directory has another commit checked out: its files may differ from the change. Go by the change."
		}
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"merge-base"}, Refs: []string{from, tip}, Limit: 1 << 10})
	var failed *git.Failed
	if errors.As(err, &failed) {
		return "", fault.New(pawl.ErrNotFound, "%s and the change have no common commit", base).
			Hint("Fetch the history with `git fetch --unshallow` or, in a GitHub workflow, with fetch-depth: 0.")
	}
	c.base = string(bytes.TrimSpace(out))
	return tip, err
}

// addNotes adds notes about untracked files, which are not reviewed, and about an empty change.
func (c *change) addNotes(ctx context.Context, repo *git.Repo) error {
	if c.head != "" {
		return nil
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "--others", "--exclude-standard", "-z"}})
	if n := bytes.Count(out, []byte{0}); n > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s not reviewed. Run `git add` to include them.", humanize.Plural(n, "untracked file")))
	}
	if len(c.shown) == 0 && len(c.leftOut) == 0 {
		c.notes = append(c.notes, "no changes to review")
	}
	return err
}
