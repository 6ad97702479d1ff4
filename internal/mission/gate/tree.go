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

// plot is a checkout that checks run on.
type plot struct {
	on    string // base, candidate, old-tests, new-tests, merge
	dir   string // where it is now: the shared directory or its own
	home  string // its own directory
	tree  string // tree hash
	cache string
	apart bool // it stays in its own directory
}

// seat is the directory where all trees are checked, one after the other, so that compilers that identify files
// by their path find the base's results in the cache.
func (g *Gate) seat() string { return filepath.Join(g.Dir, "tree") }

// plant creates a checkout with an empty cache, so that what the candidate's code writes there is not seen by
// other runs. It removes leftovers of a killed gate.
func (g *Gate) plant(ctx context.Context, on string, entries []git.Entry) (*plot, error) {
	g.plots++
	p := &plot{on: on, dir: g.seat(), home: filepath.Join(g.Dir, fmt.Sprintf("%d-%s", g.plots, on))}
	p.cache = p.home + ".cache"
	if err := errors.Join(g.vacate(), clearAway(p.dir), clearAway(p.home), clearAway(p.cache)); err != nil {
		return nil, fmt.Errorf("make room for checks: %w", err)
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a cache for checks: %w", err)
	}
	g.seated = p
	var err error
	if _, p.tree, err = g.Repo.Plant(ctx, p.dir, entries); err != nil {
		return nil, errors.Join(err, g.remove(p))
	}
	return p, nil
}

// sit moves a tree into the shared directory, unless it stays apart.
func (g *Gate) sit(p *plot) error {
	if g.seated == p || p.apart {
		return nil
	}
	if err := g.vacate(); err != nil {
		return err
	}
	if err := os.Rename(p.dir, g.seat()); err != nil {
		return err
	}
	p.dir, g.seated = g.seat(), p
	return nil
}

// vacate moves the tree in the shared directory back to its own.
func (g *Gate) vacate() error {
	p := g.seated
	if p == nil {
		return nil
	}
	if err := os.Rename(p.dir, p.home); err != nil {
		return err
	}
	p.dir, g.seated = p.home, nil
	return nil
}

// remove deletes a tree and its cache.
func (g *Gate) remove(p *plot) error {
	if g.seated == p {
		g.seated = nil
	}
	return errors.Join(clearAway(p.dir), clearAway(p.home+".cache"))
}

// Close removes the trees.
func (g *Gate) Close() error { return clearAway(g.Dir) }

// clearAway deletes a directory, if it exists.
func clearAway(dir string) error { return errors.Join(makeWritable(dir), os.RemoveAll(dir)) }

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
	return fitting(entries)
}

// fitting removes files whose path is a directory of other files.
func fitting(entries []git.Entry) []git.Entry {
	folders := map[string]bool{}
	for _, e := range entries {
		for dir := filepath.Dir(e.Path); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	return slices.DeleteFunc(entries, func(e git.Entry) bool { return folders[e.Path] })
}
