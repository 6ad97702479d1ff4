package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

const (
	maxMerge     = 16 << 20 // bytes that git tells of a merge
	maxConflicts = 1_000    // that are told one by one
)

// Outcome is what has become of a merge. Nothing is named by it yet: see Advance.
type Outcome struct {
	Onto      string     // the tip of the branch that it was made for
	Commit    string     // a commit on top of it; "" if there are conflicts
	Conflicts []Conflict // what a worker has to settle: the first thousand
	Marked    string     // where there are conflicts: a commit on top of Onto that has git's marks in its files, to make a workplace of
}

// Conflict is what two changes do not agree on. Its texts are strangers'.
type Conflict struct {
	Path string
	Kind string // as git calls it: contents, modify/delete, file/directory, binary, distinct types, …
	Says string // git's own words
}

// Merge puts what a task has changed on top of a branch: a commit with one
// parent, as after a rebase. It needs no worktree and changes no ref. A repeated
// call makes the same commit, unless the branch has moved.
//
// The commit must be one of Harvest whose parent the branch has. Files are merged
// line by line, by their paths alone: git does not guess that one was renamed, so
// a rename on one side and a change on the other are a conflict, and never
// something that nobody has written. Of attributes only those in the repository's
// own folder count.
func (t *Trees) Merge(ctx context.Context, branch, commit string, label Label) (Outcome, error) {
	m, err := t.merge(ctx, branch, commit, label)
	if err != nil {
		return Outcome{}, fmt.Errorf("merge %s into %s: %w", commit, branch, err)
	}
	return m, nil
}

func (t *Trees) merge(ctx context.Context, branch, commit string, label Label) (m Outcome, err error) {
	if err := t.Repo.AtLeast(2, 38); err != nil { // merge-tree --write-tree
		return m, err
	}
	ref, err := refOf(branch)
	if err != nil {
		return m, err
	}
	if err := label.check(); err != nil {
		return m, err
	}
	if m.Onto, err = t.Repo.Commit(ctx, ref); err != nil {
		return m, err
	}
	if commit, err = t.Repo.Commit(ctx, commit); err != nil {
		return m, err
	}
	if err := t.checkBase(ctx, m.Onto, commit); err != nil {
		return m, err
	}
	apart, remove, err := t.temporary()
	if err != nil {
		return m, err
	}
	defer remove()
	tree, conflicts, err := t.mergeTree(ctx, apart, m.Onto, commit)
	if err != nil {
		return m, err
	}
	made, err := t.commit(ctx, apart, tree, m.Onto, label)
	if err != nil {
		return m, err
	}
	if len(conflicts) > 0 {
		m.Marked, m.Conflicts = made, conflicts[:min(len(conflicts), maxConflicts)]
		return m, nil
	}
	m.Commit = made
	t.reach("merged")
	return m, nil
}

// checkBase refuses a commit that is not one step away from what the branch has:
// its changes would not be those of a task alone.
func (t *Trees) checkBase(ctx context.Context, onto, commit string) error {
	out, err := t.line(ctx, git.Call{Args: []string{"rev-list", "--parents", "--max-count=1"}, Refs: []string{commit}})
	if err != nil {
		return err
	}
	words := strings.Fields(out)
	if len(words) != 2 {
		return fmt.Errorf("it has %d parents, and a harvest has one: %w", max(len(words)-1, 0), pawl.ErrInvalid)
	}
	_, err = t.Repo.Run(ctx, git.Call{Args: []string{"merge-base", "--is-ancestor"}, Refs: []string{words[1], onto}})
	var failed *git.Failed
	if errors.As(err, &failed) && failed.Code == 1 {
		return fmt.Errorf("it was made from %s, which the branch does not have: harvest the workplace again, from a commit of the branch: %w", words[1], pawl.ErrConflict)
	}
	return err
}

// mergeTree merges two commits and returns the tree, with marks in it if there
// are conflicts.
func (t *Trees) mergeTree(ctx context.Context, apart, ours, theirs string) (string, []Conflict, error) {
	out := &limited{}
	_, err := t.Repo.Run(ctx, git.Call{Args: []string{"merge-tree", "--write-tree", "-z", "--messages", ours, theirs}, Apart: apart, Out: out})
	var failed *git.Failed
	clean := err == nil
	if errors.As(err, &failed) && failed.Code == 1 {
		err = nil
	}
	if err != nil {
		return "", nil, err
	}
	tree, conflicts, err := readMerge(out.String())
	if err == nil && clean != (len(conflicts) == 0) {
		err = errors.New("it does not say whether there are conflicts")
	}
	if err != nil {
		return "", nil, fmt.Errorf("git merge-tree: %w: %w", err, pawl.ErrInvalid)
	}
	return tree, conflicts, nil
}

// limited is a buffer with a bound.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxMerge {
		return 0, fmt.Errorf("a merge with more than %d bytes of conflicts: %w", maxMerge, pawl.ErrInvalid)
	}
	return l.Buffer.Write(p)
}

// readMerge reads what git merge-tree -z prints: the tree, the files in conflict,
// and then messages: how many paths, the paths, the kind, the text.
func readMerge(text string) (tree string, conflicts []Conflict, err error) {
	tree, rest, ok := strings.Cut(text, "\x00")
	if !ok || len(tree) < 40 || strings.Trim(tree, "0123456789abcdef") != "" {
		return "", nil, fmt.Errorf("%.100q is no tree", tree)
	}
	words := strings.Split(strings.TrimSuffix(rest, "\x00"), "\x00")
	for len(words) > 0 && words[0] != "" {
		words = words[1:] // a stage of a file: the messages tell more
	}
	for words = words[min(1, len(words)):]; len(words) > 0; {
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 || len(words) < n+3 {
			return "", nil, errors.New("a message is cut off")
		}
		if kind, ok := strings.CutPrefix(words[n+1], "CONFLICT ("); ok {
			conflicts = append(conflicts, Conflict{Path: words[1], Kind: strings.TrimSuffix(kind, ")"), Says: strings.TrimSpace(words[n+2])})
		}
		words = words[n+3:]
	}
	return tree, conflicts, nil
}
