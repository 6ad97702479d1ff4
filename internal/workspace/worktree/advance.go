package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// refOf returns the full ref name of a branch. It fails with pawl.ErrDenied for a
// branch outside of Prefix.
func refOf(branch string) (string, error) {
	if err := git.CheckRef(branch); err != nil {
		return "", err
	}
	if !strings.HasPrefix(branch, Prefix) {
		return "", fault.New(pawl.ErrDenied, "%q is a branch of the user: Pawl only merges into branches that start with %s", branch, Prefix)
	}
	return "refs/heads/" + branch, nil
}

// Advance moves a branch from the commit old to commit. It fails with
// pawl.ErrConflict if the branch is no longer at old, so that no concurrent change
// is lost. If old is "", it creates the branch. It succeeds if the branch is at
// commit already. It fails with pawl.ErrBusy if the branch is checked out: the
// files there would look as if the user had reverted the change.
func (t *Trees) Advance(ctx context.Context, branch, old, commit string) error {
	if err := t.advance(ctx, branch, old, commit); err != nil {
		return fmt.Errorf("advance %s: %w", branch, err)
	}
	return nil
}

func (t *Trees) advance(ctx context.Context, branch, old, commit string) error {
	ref, err := refOf(branch)
	if err != nil {
		return err
	}
	if commit, err = t.Repo.Commit(ctx, commit); err != nil {
		return err
	}
	if old == "" {
		old = strings.Repeat("0", len(commit)) // the branch must not exist
	} else if old, err = t.Repo.Commit(ctx, old); err != nil {
		return err
	}
	if err := t.free(ctx, ref); err != nil {
		return err
	}
	// Without --no-deref a symbolic ref would move the ref that it points to.
	_, err = t.Repo.Run(ctx, git.Call{Args: []string{"update-ref", "--no-deref", "-m", "pawl: merge a task", ref, commit, old}})
	var failed *git.Failed
	if errors.As(err, &failed) {
		now, err := t.Repo.Commit(ctx, ref)
		switch {
		case err == nil && now == commit:
			return nil
		case err != nil && !errors.Is(err, pawl.ErrNotFound):
			return err
		}
		return fault.New(pawl.ErrConflict, "the branch is at %s, not at %s: merge again (%w)", orNothing(now), old, failed)
	}
	if err == nil {
		t.reach("advanced")
	}
	return err
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}

// free fails with pawl.ErrBusy if a worktree of the user's repository has the
// branch checked out.
func (t *Trees) free(ctx context.Context, ref string) error {
	out, err := t.Repo.Run(ctx, git.Call{Args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return err
	}
	where := ""
	for line := range strings.SplitSeq(string(out), "\x00") {
		if dir, ok := strings.CutPrefix(line, "worktree "); ok {
			where = dir
		}
		if line == "branch "+ref {
			return fault.New(pawl.ErrBusy, "the branch is checked out in %s", where).Hint("Switch to another branch there, for example with `git switch --detach`.")
		}
	}
	return nil
}

// maxPast bounds the commits that Merged searches.
const maxPast = 10_000

// Merged returns the commit that merged an attempt at a task into a branch, so that an
// attempt merged before a crash is not merged again. It searches the commits of the
// branch since base, the commit that the attempt started from. ok is false if no commit
// is found.
func (t *Trees) Merged(ctx context.Context, branch, base string, label Label) (commit string, ok bool, err error) {
	commit, err = t.merged(ctx, branch, base, label)
	if err != nil {
		return "", false, fmt.Errorf("find task %s in %s: %w", label.Task, branch, err)
	}
	return commit, commit != "", nil
}

func (t *Trees) merged(ctx context.Context, branch, base string, label Label) (string, error) {
	ref, err := refOf(branch)
	if err != nil {
		return "", err
	}
	if err := label.check(); err != nil {
		return "", err
	}
	if base, err = t.Repo.Commit(ctx, base); err != nil {
		return "", err
	}
	out, err := t.Repo.Run(ctx, git.Call{
		Args: []string{"log", "--first-parent", "-z", "--format=%H%n%B", "--encoding=UTF-8", fmt.Sprintf("--max-count=%d", maxPast+1), "^" + base},
		Refs: []string{ref}, Limit: 64 << 20,
	})
	if err != nil {
		return "", err
	}
	seen := 0
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if seen++; seen > maxPast {
			return "", fault.New(pawl.ErrInvalid, "the branch has more than %d commits on top of %s", maxPast, base)
		}
		id, message, _ := strings.Cut(entry, "\n")
		if label.of(message) {
			return id, nil
		}
	}
	return "", nil
}

// of reports whether message ends with the label's trailers. The text before them
// may be written by a model and does not count.
func (l Label) of(message string) bool {
	message = strings.TrimRight(message, "\n") + "\n"
	return strings.HasSuffix(message, "\n\n"+l.trailers())
}
