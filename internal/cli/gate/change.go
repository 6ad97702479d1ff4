package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/review"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// maxPatch bounds the patch that git may make of a change, in bytes. What is
// shown of it is bounded by the review.
const maxPatch = 64 << 20

// change is what is to be reviewed.
type change struct {
	dir        string // the top of the repository
	base, head string // commits; no head is the directory as it is
	shown      []review.File
	left       []review.Left
	apart      string   // a word to the model, if its directory is not what it reviews
	notes      []string // for the person
}

// readChange makes the patch from where base was left to head, or to the directory
// as it is.
func readChange(ctx context.Context, base, head string) (change, error) {
	c := change{left: []review.Left{}}
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
	// Of two commits only the names are compared: git looks into no submodule.
	raw, err := repo.Run(ctx, git.Call{Args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none"}, Refs: []string{c.base, tip}, Limit: maxPatch})
	if err != nil {
		return c, fmt.Errorf("read the change: %w", err)
	}
	var left []review.Left
	c.shown, left = review.Choose(files)
	c.left = append(append(c.left, left...), review.Submodules(raw)...)
	return c, c.look(ctx, repo)
}

// resolve finds the commits, and returns the one that the change ends with as far
// as it is committed.
func (c *change) resolve(ctx context.Context, repo *git.Repo, base, head string) (tip string, err error) {
	if base == "" {
		base = policy.Base()
	}
	if base == "" {
		return "", &cli.ExitError{Code: cli.ExitUsage, Err: errors.New("what is the change compared with? name the branch with --base, e.g. --base main")}
	}
	from, err := repo.Commit(ctx, base)
	if err != nil {
		return "", fmt.Errorf("--base: %w\nfetch it first, e.g. with 'git fetch origin', and name it as git does here, e.g. origin/main", err)
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
			c.apart = "The folder has another commit checked out: its files may differ from the change. Go by the change."
		}
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"merge-base"}, Refs: []string{from, tip}, Limit: 1 << 10})
	var failed *git.Failed
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%s and the change have no commit in common: fetch the history too, e.g. with 'git fetch --unshallow' or, in a workflow, fetch-depth: 0: %w", base, pawl.ErrNotFound)
	}
	c.base = string(bytes.TrimSpace(out))
	return tip, err
}

// look says what of the directory is not part of the change.
func (c *change) look(ctx context.Context, repo *git.Repo) error {
	if c.head != "" {
		return nil
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "--others", "--exclude-standard", "-z"}})
	if n := bytes.Count(out, []byte{0}); n > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%d files are unknown to git and not reviewed; 'git add' makes them part of the change", n))
	}
	if len(c.shown) == 0 && len(c.left) == 0 {
		c.notes = append(c.notes, "nothing has changed")
	}
	return err
}
