package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/mission/review"
)

// maxPatch bounds the patch from base to candidate, in bytes.
const maxPatch = 64 << 20

// comparison holds the textual differences between base and candidate.
type comparison struct {
	criteria        pawl.Criteria
	base, candidate []git.Entry
	changes         []change
	patch           []byte
	before, after   map[string][]byte // changed tests, and files with protected parts
}

func (g *Gate) compare(ctx context.Context, f pawl.Criteria, candidate string) (*comparison, error) {
	c := &comparison{criteria: f, before: map[string][]byte{}, after: map[string][]byte{}}
	var err error
	if c.base, err = g.Repo.Tree(ctx, f.Base); err != nil {
		return nil, err
	}
	if c.candidate, err = g.Repo.Tree(ctx, candidate); err != nil {
		return nil, err
	}
	patch, err := g.Repo.Run(ctx, git.Call{
		Args: []string{"diff-tree", "-r", "-p", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3"}, Refs: []string{f.Base, candidate}, Limit: maxPatch,
	})
	if err != nil {
		return nil, err
	}
	c.patch = patch
	files, err := review.Parse(patch)
	if err != nil {
		return nil, fmt.Errorf("compare with the base: %w", err)
	}
	for _, file := range files {
		c.changes = append(c.changes, changeOf(file))
	}
	return c, c.read(ctx, g.Repo, candidate)
}

// changeOf returns the added and removed lines of a file.
func changeOf(f review.File) change {
	c := change{file: f.Path}
	for _, h := range f.Hunks {
		for _, row := range h.Rows {
			switch row.Kind {
			case '+':
				c.added = append(c.added, row.Text)
			case '-':
				c.removed = append(c.removed, row.Text)
			}
		}
	}
	return c
}

// changed returns the paths whose entry differs, including those whose mode changed or that became a link.
func (c *comparison) changed() []string {
	ids := map[string]git.Entry{}
	for _, e := range c.base {
		ids[e.Path] = e
	}
	var paths []string
	for _, e := range c.candidate {
		if ids[e.Path] != e {
			paths = append(paths, e.Path)
		}
		delete(ids, e.Path)
	}
	for path := range ids {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// read reads the files whose content is compared.
func (c *comparison) read(ctx context.Context, repo *git.Repo, candidate string) error {
	base, now := map[string]bool{}, map[string]bool{}
	for _, e := range c.base {
		base[e.Path] = true
	}
	for _, e := range c.candidate {
		now[e.Path] = true
	}
	for _, name := range c.changed() {
		_, parts := sections[lastPart(name)]
		if !parts && !isTest(name) {
			continue
		}
		for _, side := range []struct {
			there  bool
			commit string
			into   map[string][]byte
		}{{base[name], c.criteria.Base, c.before}, {now[name], candidate, c.after}} {
			if !side.there {
				continue
			}
			text, err := repo.Show(ctx, side.commit, name)
			if err != nil && ctx.Err() != nil {
				return err
			}
			if err == nil { // links and files that are too large are compared by name only
				side.into[name] = text
			}
		}
	}
	return nil
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// addTextFaults adds the faults that are visible in the text of the change.
func (c *comparison) addTextFaults(f *faults) {
	for _, name := range c.changed() {
		switch {
		case Protects(c.criteria, name):
			f.add("protected-changed", name, "%s defines how this project is checked, and was changed: revert the change, or allow it explicitly", name)
		case !fileApproved(c.criteria.Approval, name) && partsDiffer(name, c.before[name], c.after[name]):
			f.add("protected-changed", name, "%s was changed where it defines how this project is checked or which dependencies it replaces: revert that, or allow it explicitly", name)
		}
	}
	for _, change := range c.changes {
		for _, s := range spot(evasions, change) {
			if !fileApproved(c.criteria.Approval, change.file) {
				f.add(s.rule, change.file, "%s: %q: %s", change.file, s.first(change), s.text)
			}
		}
	}
	for _, b := range c.freshTests() {
		if b.assertsNothing() && !testApproved(c.criteria.Approval, b.Name) {
			f.add("test-idle", b.Name, "test %s in %s has no assertions, so it cannot fail: add some", b.Name, b.File)
		}
	}
}

// suspicious returns what a reviewer must assess.
func (c *comparison) suspicious() []pawl.GateFault {
	var list faults
	for _, change := range c.changes {
		for _, s := range spot(suspicions, change) {
			list.add(s.rule, change.file, "%s: %q: %s", change.file, s.first(change), s.text)
		}
	}
	return list
}

// freshTests returns the tests that are new or changed.
func (c *comparison) freshTests() []block {
	var fresh []block
	for name, text := range c.after {
		old := blocks(name, string(c.before[name]))
		for _, b := range blocks(name, string(text)) {
			if !slices.ContainsFunc(old, func(o block) bool { return o.Name == b.Name && o.Text == b.Text }) {
				fresh = append(fresh, b)
			}
		}
	}
	slices.SortFunc(fresh, func(a, b block) int { return strings.Compare(a.File+a.Name, b.File+b.Name) })
	return fresh
}

// renamed finds tests that were only renamed or moved to another file. It maps new names to old ones, as
// written in the files.
func (c *comparison) renamed() map[string]string {
	var removed, fresh []block
	for name, text := range c.before {
		for _, b := range blocks(name, string(text)) {
			if !slices.ContainsFunc(blocks(name, string(c.after[name])), func(n block) bool { return n.Name == b.Name }) {
				removed = append(removed, b)
			}
		}
	}
	for name, text := range c.after {
		for _, b := range blocks(name, string(text)) {
			if !slices.ContainsFunc(blocks(name, string(c.before[name])), func(o block) bool { return o.Name == b.Name }) {
				fresh = append(fresh, b)
			}
		}
	}
	pairs := map[string]string{}
	for _, b := range fresh {
		if i := slices.IndexFunc(removed, b.sameAs); i >= 0 {
			pairs[b.Name] = removed[i].Name
			removed = slices.Delete(removed, i, i+1)
		}
	}
	return pairs
}

// named reports whether a test reported by a runner is the one with that name in a file, ignoring the enclosing
// suite, subtests and parameters.
func named(v *inventory.Inventory, test, name string) bool {
	whole := inventory.Leaf(v.Whole(test))
	if whole == name || strings.HasSuffix(whole, " "+name) {
		return true
	}
	whole, _, _ = strings.Cut(whole, "[")
	return whole[strings.LastIndexByte(whole, '.')+1:] == name
}
