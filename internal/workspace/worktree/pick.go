package worktree

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/git"
)

// Pick applies the changes of a commit, which has one parent, to another commit, like
// git cherry-pick: the parent need not be in the history of onto. It needs no worktree
// and changes no ref. Repeating the call makes the same commit. Conflicts are found as
// in Merge.
func (t *Trees) Pick(ctx context.Context, onto, commit string, label Label) (Outcome, error) {
	m, err := t.pick(ctx, onto, commit, label)
	if err != nil {
		return Outcome{}, fmt.Errorf("pick %s: %w", commit, err)
	}
	return m, nil
}

func (t *Trees) pick(ctx context.Context, onto, commit string, label Label) (m Outcome, err error) {
	if err := t.Repo.AtLeast(2, 38); err != nil { // merge-tree --write-tree
		return m, err
	}
	if err := label.check(); err != nil {
		return m, err
	}
	if m.Onto, err = t.Repo.Commit(ctx, onto); err != nil {
		return m, err
	}
	if commit, err = t.Repo.Commit(ctx, commit); err != nil {
		return m, err
	}
	base, err := t.Parent(ctx, commit)
	if err != nil {
		return m, err
	}
	apart, remove, err := t.temporary()
	if err != nil {
		return m, err
	}
	defer remove()
	tree, err := t.line(ctx, git.Call{Args: []string{"log", "--max-count=1", "--format=%T"}, Refs: []string{m.Onto}})
	if err != nil {
		return m, err
	}
	// Git merges from the common ancestor, so give both sides that of the change.
	ours, err := t.commit(ctx, apart, tree, base, label)
	if err != nil {
		return m, err
	}
	err = t.mergeInto(ctx, &m, apart, base, ours, commit, label)
	return m, err
}

// mergeInto merges two commits with the common ancestor base, and puts the result on top
// of m.Onto.
func (t *Trees) mergeInto(ctx context.Context, m *Outcome, apart, base, ours, theirs string, label Label) error {
	tree, conflicts, err := t.mergeTree(ctx, apart, ours, theirs)
	if err != nil {
		return err
	}
	made, err := t.commit(ctx, apart, tree, m.Onto, label)
	if err != nil {
		return err
	}
	if len(conflicts) == 0 {
		if conflicts, err = t.guessed(ctx, base, m.Onto, theirs, made); err != nil {
			return err
		}
	}
	if len(conflicts) > 0 {
		m.Marked, m.Conflicts = made, conflicts[:min(len(conflicts), maxConflicts)]
		return nil
	}
	m.Commit = made
	return nil
}
