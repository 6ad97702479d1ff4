package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/git"
)

// checkout is a checkout that checks run on.
type checkout struct {
	on     string // base, candidate, old-tests, new-tests, merge
	dir    string // where it is now: the shared directory or its own
	ownDir string // its own directory
	tree   string // tree hash
	cache  string
	apart  bool // it stays in its own directory
}

// sharedDir is the directory where all trees are checked, one after the other, so that compilers that identify files
// by their path find the base's results in the cache.
func (g *Gate) sharedDir() string { return filepath.Join(g.Dir, "tree") }

// newCheckout creates a checkout with an empty cache, so that what the candidate's code writes there is not seen by
// other runs. It removes leftovers of a killed gate.
func (g *Gate) newCheckout(ctx context.Context, on string, entries []git.Entry) (*checkout, error) {
	g.checkouts++
	p := &checkout{on: on, dir: g.sharedDir(), ownDir: filepath.Join(g.Dir, fmt.Sprintf("%d-%s", g.checkouts, on))}
	p.cache = p.ownDir + ".cache"
	if err := errors.Join(g.deactivate(), removeAll(p.dir), removeAll(p.ownDir), removeAll(p.cache)); err != nil {
		return nil, fmt.Errorf("create a directory for checks: %w", err)
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return nil, fmt.Errorf("create a cache for checks: %w", err)
	}
	g.current = p
	var err error
	if _, p.tree, err = g.Repo.Plant(ctx, p.dir, entries); err != nil {
		return nil, errors.Join(err, g.remove(p))
	}
	return p, nil
}

// activate moves a tree into the shared directory, unless it stays apart.
func (g *Gate) activate(p *checkout) error {
	if g.current == p || p.apart {
		return nil
	}
	if err := g.deactivate(); err != nil {
		return err
	}
	if err := os.Rename(p.dir, g.sharedDir()); err != nil {
		return err
	}
	p.dir, g.current = g.sharedDir(), p
	return nil
}

// deactivate moves the tree in the shared directory back to its own.
func (g *Gate) deactivate() error {
	p := g.current
	if p == nil {
		return nil
	}
	if err := os.Rename(p.dir, p.ownDir); err != nil {
		return err
	}
	p.dir, g.current = p.ownDir, nil
	return nil
}

// remove deletes a tree and its cache.
func (g *Gate) remove(p *checkout) error {
	if g.current == p {
		g.current = nil
	}
	return errors.Join(removeAll(p.dir), removeAll(p.ownDir+".cache"))
}

// Close removes the trees.
func (g *Gate) Close() error { return removeAll(g.Dir) }

// removeAll deletes a directory, if it exists.
func removeAll(dir string) error { return errors.Join(makeWritable(dir), os.RemoveAll(dir)) }

// makeWritable makes directories writable, because some tools protect their caches.
func makeWritable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a directory of our own
		}
		return nil
	})
}

// mixed combines the files of one tree with the tests of another.
func mixed(code, tests []git.Entry) []git.Entry {
	var entries []git.Entry
	for _, e := range code {
		if !isTest(e.Path) {
			entries = append(entries, e)
		}
	}
	for _, e := range tests {
		if isTest(e.Path) {
			entries = append(entries, e)
		}
	}
	return withoutConflicts(entries)
}

// withoutConflicts removes files whose path is a directory of other files.
func withoutConflicts(entries []git.Entry) []git.Entry {
	dirs := map[string]bool{}
	for _, e := range entries {
		for dir := filepath.Dir(e.Path); dir != "."; dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	return slices.DeleteFunc(entries, func(e git.Entry) bool { return dirs[e.Path] })
}
