package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	maxClone    = 4 << 30 // bytes on disk of a clone
	cloneBranch = "main"  // the branch that a clone checks out
)

// Clone fetches a commit with its history into the new directory dir and checks it
// out on the branch main. It runs no program that the project configures.
func (g *Git) Clone(ctx context.Context, from Remote, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("clone: %w", err)
	}
	repo, commit, err := g.bring(ctx, from, dir)
	if err != nil {
		return fmt.Errorf("clone: %w", err)
	}
	for _, args := range [][]string{
		{"update-ref", "refs/heads/" + cloneBranch, commit},
		{"symbolic-ref", "HEAD", "refs/heads/" + cloneBranch},
		{"read-tree", "-m", "-u", commit},
	} {
		if _, err := repo.run(ctx, Call{Args: args}); err != nil {
			return fmt.Errorf("clone: %w", err)
		}
	}
	return nil
}

// Mirror fetches a commit with its history into dir, which may contain an earlier
// mirror, and returns the commit's id. It checks out nothing.
func (g *Git) Mirror(ctx context.Context, from Remote, dir string) (commit string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("mirror: %w", err)
	}
	repo, commit, err := g.bring(ctx, from, dir)
	if err != nil {
		return "", fmt.Errorf("mirror: %w", err)
	}
	// A ref protects the commit from git's garbage collection, and others can fetch it by that ref.
	_, err = repo.run(ctx, Call{Args: []string{"update-ref", "refs/heads/kept-" + commit, commit}})
	return commit, err
}

// bring fetches a commit into the repository at dir, and creates that repository if
// it does not exist.
func (g *Git) bring(ctx context.Context, from Remote, dir string) (*Repo, string, error) {
	address, protocol, err := from.check()
	if err != nil {
		return nil, "", err
	}
	if err := initialize(dir); err != nil {
		return nil, "", err
	}
	repo, err := g.Open(ctx, dir)
	if err != nil {
		return nil, "", err
	}
	ref := from.Ref
	if ref == "" {
		ref = "HEAD"
	}
	bounded, stop := watched(ctx, dir, maxClone)
	defer stop()
	_, err = repo.run(bounded, Call{Args: []string{"fetch", "--quiet", "--no-tags", address}, Refs: []string{ref}, Protocols: []string{protocol}, settings: from.pin()})
	if cause := context.Cause(bounded); err != nil && cause != nil && ctx.Err() == nil {
		return nil, "", cause
	}
	if err != nil {
		return nil, "", fault.New(pawl.ErrUnavailable, "%s: %w", address, err)
	}
	commit, err := repo.Commit(ctx, "FETCH_HEAD")
	return repo, commit, err
}
