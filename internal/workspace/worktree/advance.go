package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// refOf returns the full name of a branch that is ours to move.
func refOf(branch string) (string, error) {
	if err := git.CheckRef(branch); err != nil {
		return "", err
	}
	if !strings.HasPrefix(branch, Prefix) {
		return "", fmt.Errorf("%q is a branch of the user's: pawl merges into branches below %s alone: %w", branch, Prefix, pawl.ErrDenied)
	}
	return "refs/heads/" + branch, nil
}

// Advance moves a branch from one commit to another, and fails with
// pawl.ErrConflict if it is not at the first any more: whoever else was there,
// nothing of theirs is lost. An old commit of "" makes the branch. If it is at the
// new one already that is fine. A branch that is checked out is left alone: its
// worktree would look as if the user had taken the change back.
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
		old = strings.Repeat("0", len(commit)) // it must not be there
	} else if old, err = t.Repo.Commit(ctx, old); err != nil {
		return err
	}
	if err := t.free(ctx, ref); err != nil {
		return err
	}
	// Without --no-deref a ref that only names another would move that.
	_, err = t.Repo.Run(ctx, git.Call{Args: []string{"update-ref", "--no-deref", "-m", "pawl: a task is merged", ref, commit, old}})
	var failed *git.Failed
	if errors.As(err, &failed) {
		now, err := t.Repo.Commit(ctx, ref)
		switch {
		case err == nil && now == commit:
			return nil
		case err != nil && !errors.Is(err, pawl.ErrNotFound):
			return err
		}
		return fmt.Errorf("it is at %s, not at %s: merge again (%w): %w", orNothing(now), old, failed, pawl.ErrConflict)
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

// free refuses a branch that some worktree of the repository is on.
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
			return fmt.Errorf("it is checked out in %s: switch to another branch there ('git switch --detach'): %w", where, pawl.ErrBusy)
		}
	}
	return nil
}

// maxPast bounds the commits that Merged looks through.
const maxPast = 10_000

// Merged finds the commit by which a branch has taken in an attempt at a task, so
// that one that was merged before a crash is not merged again. It looks at what the
// branch has on top of base, the commit that the attempt began with.
func (t *Trees) Merged(ctx context.Context, branch, base string, label Label) (commit string, ok bool, err error) {
	commit, err = t.merged(ctx, branch, base, label)
	if err != nil {
		return "", false, fmt.Errorf("look for %s in %s: %w", label.Task, branch, err)
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
			return "", fmt.Errorf("the branch has more than %d commits on top of %s: %w", maxPast, base, pawl.ErrInvalid)
		}
		id, message, _ := strings.Cut(entry, "\n")
		if label.of(message) {
			return id, nil
		}
	}
	return "", nil
}

// of reports whether a message ends with the label's trailers. What stands before
// them may be a model's words, and is not asked.
func (l Label) of(message string) bool {
	message = strings.TrimRight(message, "\n") + "\n"
	return strings.HasSuffix(message, "\n\n"+l.trailers())
}
