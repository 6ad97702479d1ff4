package sandbox

import (
	"fmt"
	"os"
	"slices"
)

// readable returns the real paths of readable directories. A missing one is an error,
// because the command would fail without telling why.
func readable(paths []string) ([]string, error) {
	var real []string
	for _, path := range paths {
		at := resolve(path)
		if !isFolder(at) {
			return nil, fmt.Errorf("readable directory %s: %w", path, os.ErrNotExist)
		}
		real = append(real, at)
	}
	return real, nil
}

// findApart returns the real paths of the directories that are set apart, without
// those inside another. Missing ones need no hiding.
func findApart(paths []string) []mask {
	var found []mask
	for _, path := range paths {
		if at := resolve(path); isFolder(at) {
			found = append(found, mask{at, true})
		}
	}
	return outermost(found)
}

// holding returns the masks that contain a path.
func holding(masks []mask, path string) []mask {
	var all []mask
	for _, m := range masks {
		if within(path, m.path) {
			all = append(all, m)
		}
	}
	return all
}

// roots returns the directories that stay visible wherever they are.
func (pl *plan) roots() []string {
	all := slices.Concat([]string{pl.dir}, pl.extra, pl.readable)
	if pl.temp != "" {
		all = append(all, pl.temp)
	}
	return all
}

// setApart reports whether a path is in a directory that is set apart, and in none of
// the roots that stay visible in it.
func (pl *plan) setApart(path string) bool {
	return slices.ContainsFunc(holding(pl.apart, path), func(m mask) bool {
		return !slices.ContainsFunc(pl.roots(), func(root string) bool { return within(path, root) && within(root, m.path) })
	})
}

// apartFrom returns the directories that are set apart and do not contain root. With
// root "" it returns all.
func (pl *plan) apartFrom(root string) []string {
	var all []string
	for _, m := range pl.apart {
		if !within(root, m.path) {
			all = append(all, m.path)
		}
	}
	return all
}
