package project

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// The limits of a diff. A file that is asked for alone may have a patch of maxDiff bytes.
const (
	maxDiff      = 1 << 20 // bytes of all patches
	maxFileDiff  = 128 << 10
	maxDiffFiles = 1000
)

// Sessions is what a Local needs to know about sessions and their files.
type Sessions struct {
	Policy    func(ctx context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error)
	Changes   func(ctx context.Context, id pawl.SessionID, turn int) (agent.Changes, error)
	Sees      func(id pawl.SessionID) error // whether this process sees the session's files; nil means yes
	Snapshots Snapshots                     // nil means none
}

// Snapshots compares snapshots; see package snapshot.
type Snapshots interface {
	Diff(ctx context.Context, dir string, spans []snapshot.Span, c snapshot.DiffConfig) (files []snapshot.FileDiff, total int, err error)
}

var _ Snapshots = (*snapshot.Store)(nil)

// Diff returns what a session changed in files.
func (d *Local) Diff(ctx context.Context, id pawl.SessionID, o pawl.DiffOptions) (pawl.Diff, error) {
	diff, err := d.diff(ctx, id, o)
	if err != nil {
		return pawl.Diff{}, fmt.Errorf("diff: %w", err)
	}
	slices.SortStableFunc(diff.Files, func(a, b pawl.FileDiff) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range diff.Files {
		diff.Added, diff.Deleted = diff.Added+f.Added, diff.Deleted+f.Deleted
		diff.Truncated = diff.Truncated || f.Truncated
	}
	return diff, nil
}

func (d *Local) diff(ctx context.Context, id pawl.SessionID, o pawl.DiffOptions) (pawl.Diff, error) {
	empty := pawl.Diff{Files: []pawl.FileDiff{}}
	if o.Turn < 0 || o.Turn > 0 && o.WorkingTree {
		return empty, fault.New(pawl.ErrInvalid, "ask for a turn, from 1, or for the working tree")
	}
	s, err := d.session(ctx, id)
	if err != nil {
		return empty, err
	}
	if o.Path != "" {
		if o.Path, err = s.path(o.Path); err != nil {
			return empty, err
		}
	}
	if o.WorkingTree {
		return d.diffWorkingTree(ctx, s, o.Path)
	}
	c, err := d.Sessions.Changes(ctx, id, o.Turn)
	if err != nil {
		return empty, err
	}
	if d.Sessions.Snapshots == nil {
		return empty, fault.New(pawl.ErrUnavailable, "no changes are known: checkpoints need git")
	}
	empty.Unknown = c.Unknown
	return d.diffSpans(ctx, s, c, o, empty)
}

// diffSpans adds what the spans of each directory changed to a diff.
func (d *Local) diffSpans(ctx context.Context, s sessionFiles, c agent.Changes, o pawl.DiffOptions, diff pawl.Diff) (pawl.Diff, error) {
	left := limitsOf(o.Path)
	for _, dir := range slices.Sorted(maps.Keys(c.Spans)) {
		in := func(path string) string { // as people and rules name it
			if dir == c.Dir {
				return path
			}
			return filepath.Join(dir, path)
		}
		left.Now, left.Shown = o.Turn == 0, func(path string) bool { return s.readAllowed(in(path)) }
		if left.Only = ""; o.Path != "" {
			rel, ok := within(dir, c.Dir, o.Path)
			if !ok {
				continue
			}
			left.Only = rel
		}
		files, total, err := d.Sessions.Snapshots.Diff(ctx, dir, c.Spans[dir], left)
		if err != nil {
			return diff, fault.New(pawl.ErrUnavailable, "the changes in %s cannot be shown: %w", dir, err)
		}
		diff.Truncated = diff.Truncated || total > left.Files
		left.Files -= min(left.Files, total)
		for _, f := range files {
			left.Bytes -= len(f.Patch)
			diff.Files = append(diff.Files, fileDiff(f, in))
		}
	}
	return diff, nil
}

func limitsOf(path string) snapshot.DiffConfig {
	c := snapshot.DiffConfig{Files: maxDiffFiles, Bytes: maxDiff, FileBytes: maxFileDiff}
	if path != "" {
		c.FileBytes = maxDiff
	}
	return c
}

// within returns a path of a session relative to one of its directories.
func within(dir, workspaceDir, path string) (string, bool) {
	if dir == workspaceDir {
		return path, !filepath.IsAbs(path)
	}
	_, rel, ok := workspace.Locate(path, dir)
	return rel, ok
}

// diffKinds are the names of changes for users.
var diffKinds = map[snapshot.Kind]string{
	snapshot.Added: "create", snapshot.Modified: "modify", snapshot.Type: "modify", snapshot.Deleted: "delete",
	snapshot.Mode: "chmod", snapshot.Renamed: "rename", snapshot.Uncovered: "unknown",
}

// notReadable says why a file has no patch or content.
const notReadable = "permission rules do not allow reading it without asking"

func fileDiff(f snapshot.FileDiff, in func(string) string) pawl.FileDiff {
	out := pawl.FileDiff{
		Path: in(f.Path), Kind: diffKinds[f.Kind], Added: f.Added, Deleted: f.Deleted, Binary: f.Binary, Truncated: f.Cut, Hidden: f.LeftOut, Patch: f.Patch,
	}
	if f.OldPath != "" {
		out.OldPath = in(f.OldPath)
	}
	if f.Hidden {
		out.Hidden = notReadable
	}
	return out
}

// diffWorkingTree returns how the working directory of a session differs from the last commit.
func (d *Local) diffWorkingTree(ctx context.Context, s sessionFiles, only string) (diff pawl.Diff, err error) {
	diff.Files = []pawl.FileDiff{}
	g, err := git.Find(ctx, s.policy.Dir)
	if err != nil {
		return diff, err
	}
	repo, err := g.Open(ctx, s.policy.Dir)
	if err != nil {
		return diff, err
	}
	prefix, err := filepath.Rel(repo.Top, s.policy.Dir)
	if err != nil {
		return diff, err
	}
	if filepath.IsAbs(only) {
		return diff, fault.New(pawl.ErrInvalid, "%q is not in the working directory", only)
	}
	changed, untracked, err := repo.Changed(ctx, filepath.Join(prefix, only))
	if err != nil {
		return diff, err
	}
	w, err := workspace.Open(s.policy.Dir)
	if err != nil {
		return diff, err
	}
	defer w.Close()
	t := treeDiff{session: s, repo: repo, files: w, prefix: prefix, limits: limitsOf(only), diff: &diff}
	return diff, t.add(ctx, changed, untracked)
}
