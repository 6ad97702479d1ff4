package snapshot

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/pawl-dev/pawl/internal/git"
)

// Show returns what Apply would change now: a unified diff, cut at about limit
// bytes, and the line counts of each file by path.
func (s *Store) Show(ctx context.Context, plan Plan, limit int) (text string, lines map[string]Change, err error) {
	groups, count := plan.byOrigin()
	if count == 0 {
		return "", nil, nil
	}
	f, err := s.lock(ctx, plan.Dir, exists)
	if err != nil {
		return "", nil, fmt.Errorf("show undo: %w", lost(err, plan.Files[0].origin, plan.Dir))
	}
	defer f.unlock()
	now, err := f.take(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("show undo in %s: %w", f.dir, err)
	}
	var all []byte
	lines = map[string]Change{}
	for _, g := range groups {
		if all, err = f.showFiles(ctx, all, now, g, plan.Prefix, limit, lines); err != nil {
			return "", nil, fmt.Errorf("show undo in %s: %w", f.dir, err)
		}
	}
	if len(all) > limit {
		return trimPatch(all, limit, count), lines, nil
	}
	return string(all), lines, nil
}

// origin is a snapshot and the files to restore from it.
type origin struct {
	id    ID
	paths []string
}

// byOrigin groups the files that are still to be restored by snapshot. count is
// their number.
func (p Plan) byOrigin() (groups []origin, count int) {
	for _, r := range p.Files {
		if !r.open() {
			continue
		}
		i := slices.IndexFunc(groups, func(g origin) bool { return g.id == r.origin })
		if i < 0 {
			i, groups = len(groups), append(groups, origin{id: r.origin})
		}
		groups[i].paths = append(groups[i].paths, r.Path)
		count++
	}
	return groups, count
}

// showFiles appends the diff of the group's files to text, up to one byte beyond
// limit, and adds their line counts to lines.
func (f *folder) showFiles(ctx context.Context, text []byte, now ID, g origin, prefix string, limit int, lines map[string]Change) ([]byte, error) {
	changed, err := f.lines(ctx, now, g.id)
	if err != nil {
		return nil, err
	}
	for _, path := range g.paths {
		lines[path] = changed[path]
	}
	return f.diff(ctx, text, now, g.id, prefix, g.paths, limit)
}

// PatchOf is [Store.Patch] limited to files for which shown returns true. hidden is
// the number of other changed files.
func (s *Store) PatchOf(ctx context.Context, dir string, from, to ID, limit int, shown func(path string) bool) (text string, hidden int, err error) {
	f, to, err := s.pair(ctx, dir, from, to)
	if err != nil {
		return "", 0, fmt.Errorf("show patch: %w", err)
	}
	defer f.unlock()
	paths, err := f.changed(ctx, from, to)
	if err != nil {
		return "", 0, fmt.Errorf("show patch of %s: %w", f.dir, err)
	}
	all := len(paths)
	paths = slices.DeleteFunc(paths, func(path string) bool { return !shown(path) })
	diff, err := f.diff(ctx, nil, from, to, "", paths, limit)
	if err != nil {
		return "", 0, fmt.Errorf("show patch of %s: %w", f.dir, err)
	}
	if text = string(diff); len(diff) > limit {
		text = trimPatch(diff, limit, len(paths))
	}
	return text, all - len(paths), nil
}

// changed returns the paths that both snapshots cover and that differ.
func (f *folder) changed(ctx context.Context, from, to ID) (paths []string, err error) {
	all, err := f.records(ctx, [][2]ID{{from, to}})
	if err != nil {
		return nil, err
	}
	for _, r := range all[0] {
		if r.out == "" {
			paths = append(paths, r.path)
		}
	}
	return paths, nil
}

// diff appends the diff of paths to text, with a prefix for each path, up to one byte beyond limit.
func (f *folder) diff(ctx context.Context, text []byte, from, to ID, prefix string, paths []string, limit int) ([]byte, error) {
	for rest := paths; len(rest) > 0 && len(text) <= limit; {
		n := some(rest)
		args := []string{"diff-tree", "-r", "-p", "--no-renames", "--ignore-submodules=all", "--src-prefix=a/" + prefix, "--dst-prefix=b/" + prefix, string(from), string(to)}
		err := f.repo.Run(ctx, git.OwnCall{Args: args, Paths: rest[:n], Hold: f.file, Out: func(r io.Reader) error {
			part, err := io.ReadAll(io.LimitReader(r, int64(limit-len(text)+1)))
			text = append(text, part...)
			return err
		}})
		if err != nil {
			return nil, f.fault(err, from, to)
		}
		rest = rest[n:]
	}
	return text, nil
}
