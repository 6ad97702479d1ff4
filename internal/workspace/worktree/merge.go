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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

const (
	maxMerge     = 16 << 20 // bytes of git's report of a merge
	maxConflicts = 1_000    // conflicts that are reported
)

// Outcome is the result of Merge. No ref points to its commits yet; see Advance.
type Outcome struct {
	Onto      string     // the tip of the branch that the merge is based on
	Commit    string     // a child of Onto; "" if there are conflicts
	Conflicts []Conflict // conflicts that a worker has to resolve; at most 1,000
	// If there are conflicts: a child of Onto with conflict markers in its files,
	// to create a worktree from.
	Marked string
}

// Conflict is a conflict between two changes. Its fields are untrusted text.
type Conflict struct {
	Path string
	Kind string // git's name: contents, modify/delete, file/directory, binary, distinct modes, …; or kindRename
	Says string // git's message
}

// Merge applies the changes of a task to the tip of a branch, as a commit with one
// parent, like a rebase. It needs no worktree and changes no ref. Repeating the
// call makes the same commit, unless the branch has moved.
//
// The commit must be a result of Collect whose parent is in the branch. Files are
// merged line by line and only by path: if git detects a rename on one side and
// would apply the other side's change to the new path, Merge reports a conflict,
// since git may be wrong. Only gitattributes in the repository's git directory
// apply.
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
	if err := t.mergeInto(ctx, &m, apart, base, m.Onto, commit, label); err != nil {
		return m, err
	}
	if m.Commit != "" {
		t.reach("merged")
	}
	return m, nil
}

// baseOf returns the parent of commit. It fails unless commit has exactly one
// parent and onto contains it: otherwise the merge would include more than the
// changes of the task.
func (t *Trees) baseOf(ctx context.Context, onto, commit string) (string, error) {
	parent, err := t.Parent(ctx, commit)
	if err != nil {
		return "", err
	}
	_, err = t.Repo.Run(ctx, git.Call{Args: []string{"merge-base", "--is-ancestor"}, Refs: []string{parent, onto}})
	var failed *git.Failed
	if errors.As(err, &failed) && failed.Code == 1 {
		return "", fault.New(pawl.ErrConflict, "the commit is based on %s, which the branch does not contain: collect the worktree again, from a commit of the branch", parent)
	}
	return parent, err
}

// Parent returns the parent of commit. It fails unless commit has exactly one.
func (t *Trees) Parent(ctx context.Context, commit string) (string, error) {
	out, err := t.line(ctx, git.Call{Args: []string{"rev-list", "--parents", "--max-count=1"}, Refs: []string{commit}})
	if err != nil {
		return "", err
	}
	words := strings.Fields(out)
	if len(words) != 2 {
		return "", fault.New(pawl.ErrInvalid, "the commit has %d parents instead of one", max(len(words)-1, 0))
	}
	return words[1], nil
}

// mergeTree merges two commits and returns the tree, which has conflict markers in
// its files if there are conflicts.
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
	for i, c := range conflicts { // git adds a suffix to a file where a directory is needed
		conflicts[i].Path = strings.TrimSuffix(strings.TrimSuffix(c.Path, "~"+ours), "~"+theirs)
	}
	if err == nil && clean != (len(conflicts) == 0) {
		err = errors.New("git merge-tree did not report whether there are conflicts")
	}
	if err != nil {
		return "", nil, fault.New(pawl.ErrInvalid, "git merge-tree: %w", err)
	}
	return tree, conflicts, nil
}

// limited is a buffer of at most maxMerge bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxMerge {
		return 0, fault.New(pawl.ErrInvalid, "the merge has more than %d bytes of conflicts", maxMerge)
	}
	return l.Buffer.Write(p)
}

// readMerge parses the output of git merge-tree -z: the tree, the conflicted files,
// and messages, each with the number of paths, the paths, the kind and the text.
func readMerge(text string) (tree string, conflicts []Conflict, err error) {
	tree, rest, ok := strings.Cut(text, "\x00")
	if !ok || len(tree) < 40 || strings.Trim(tree, "0123456789abcdef") != "" {
		return "", nil, fmt.Errorf("%.100q is not a tree", tree)
	}
	words := strings.Split(strings.TrimSuffix(rest, "\x00"), "\x00")
	for len(words) > 0 && words[0] != "" {
		words = words[1:] // a stage of a conflicted file: the messages have the details
	}
	for words = words[min(1, len(words)):]; len(words) > 0; {
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 || len(words) < n+3 {
			return "", nil, errors.New("a message is truncated")
		}
		if kind, ok := strings.CutPrefix(words[n+1], "CONFLICT ("); ok {
			conflicts = append(conflicts, Conflict{Path: words[1], Kind: strings.TrimSuffix(kind, ")"), Says: strings.TrimSpace(words[n+2])})
		}
		words = words[n+3:]
	}
	return tree, conflicts, nil
}

// kindRename is a conflict that pawl finds and git does not: git assumed a rename.
const kindRename = "rename"

// guessed checks a merge that git reports as clean. A file that only one side
// changed must be as on that side; a file that one side deleted and the other
// changed must be a conflict. Anything else comes from git's rename detection and
// is returned as a conflict.
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
			conflicts = append(conflicts, Conflict{Path: p, Kind: kindRename, Says: "one side renamed a file that the other changed: git would only guess where the change belongs"})
		}
	}
	return conflicts, nil
}

// plainly reports whether the merge result of a path follows from both sides
// without rename detection.
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
