package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

const (
	maxMerge     = 16 << 20 // bytes that git reports a merge
	maxConflicts = 1_000    // that are reported one by one
)

// Outcome is what has become of a merge. Nothing is named by it yet: see Advance.
type Outcome struct {
	Onto      string     // the tip of the branch that it was made for
	Commit    string     // a commit on top of it; "" if there are conflicts
	Conflicts []Conflict // what a worker has to settle: the first thousand
	Marked    string     // where there are conflicts: a commit on top of Onto that has git's marks in its files, to make a worktree of
}

// Conflict is what two changes do not agree on. Its texts are third parties'.
type Conflict struct {
	Path string
	Kind string // as git calls it: contents, modify/delete, file/directory, binary, distinct modes, …; or kindRename
	Says string // git's own words
}

// Merge puts what a task has changed on top of a branch: a commit with one
// parent, as after a rebase. It needs no worktree and changes no ref. A repeated
// call makes the same commit, unless the branch has moved.
//
// The commit must be one of Harvest whose parent the branch has. Files are merged
// line by line, and by their paths alone: where git guesses that a file was renamed
// on one side and so changes it elsewhere, that is a conflict, as git may be wrong.
// Of attributes only those in the repository's own directory count.
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
	base, err := t.baseOf(ctx, m.Onto, commit)
	if err != nil {
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
	if len(conflicts) == 0 {
		if conflicts, err = t.guessed(ctx, base, m.Onto, commit, made); err != nil {
			return m, err
		}
	}
	if len(conflicts) > 0 {
		m.Marked, m.Conflicts = made, conflicts[:min(len(conflicts), maxConflicts)]
		return m, nil
	}
	m.Commit = made
	t.reach("merged")
	return m, nil
}

// baseOf returns what a commit was made from. It refuses one that is not one step
// away from what the branch has: its changes would not be those of a task alone.
func (t *Trees) baseOf(ctx context.Context, onto, commit string) (string, error) {
	out, err := t.line(ctx, git.Call{Args: []string{"rev-list", "--parents", "--max-count=1"}, Refs: []string{commit}})
	if err != nil {
		return "", err
	}
	words := strings.Fields(out)
	if len(words) != 2 {
		return "", fmt.Errorf("it has %d parents, and a harvest has one: %w", max(len(words)-1, 0), pawl.ErrInvalid)
	}
	_, err = t.Repo.Run(ctx, git.Call{Args: []string{"merge-base", "--is-ancestor"}, Refs: []string{words[1], onto}})
	var failed *git.Failed
	if errors.As(err, &failed) && failed.Code == 1 {
		return "", fmt.Errorf("it was made from %s, which the branch does not have: harvest the workplace again, from a commit of the branch: %w", words[1], pawl.ErrConflict)
	}
	return words[1], err
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
	for i, c := range conflicts { // git puts a file aside where a directory is to be
		conflicts[i].Path = strings.TrimSuffix(strings.TrimSuffix(c.Path, "~"+ours), "~"+theirs)
	}
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

// kindRename is a conflict that git does not see: it has taken a file for renamed.
const kindRename = "rename"

// guessed compares a merge that git calls clean with what was merged. What one
// side alone has changed must be as that side has it, and what one has deleted and
// the other changed must be a conflict. All else is a guess.
func (t *Trees) guessed(ctx context.Context, base, ours, theirs, merged string) ([]Conflict, error) {
	var sides [4]map[string]git.Entry
	paths := map[string]bool{}
	for i, commit := range []string{base, ours, theirs, merged} {
		entries, err := t.Repo.Tree(ctx, commit)
		if err != nil {
			return nil, err
		}
		sides[i] = make(map[string]git.Entry, len(entries))
		for _, e := range entries {
			sides[i][e.Path], paths[e.Path] = e, true
		}
	}
	var conflicts []Conflict
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if !plainly(sides[0][p], sides[1][p], sides[2][p], sides[3][p]) {
			conflicts = append(conflicts, Conflict{Path: p, Kind: kindRename, Says: "one side has renamed a file and the other has changed it: git would move the change along, which is a guess"})
		}
	}
	return conflicts, nil
}

// plainly reports whether a file of a merge needs no guess.
func plainly(base, ours, theirs, merged git.Entry) bool {
	var none git.Entry
	switch {
	case ours == base:
		return merged == theirs
	case theirs == base || ours == theirs:
		return merged == ours
	}
	return ours != none && theirs != none && merged != none
}
