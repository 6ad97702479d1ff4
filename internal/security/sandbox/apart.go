package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readable returns the real paths of readable files and directories. A missing one is an
// error, because the command would fail without telling why.
func readable(paths []string) ([]string, error) {
	var real []string
	for _, path := range paths {
		at := resolve(path)
		if at == "" || !filepath.IsAbs(at) {
			return nil, fmt.Errorf("readable path %s: %w", path, os.ErrNotExist)
		}
		real = append(real, at)
	}
	return real, nil
}

// findApart returns the real paths of the directories that are set apart, sorted.
// Missing ones need no hiding.
func findApart(paths []string) []mask {
	var found []mask
	for _, path := range paths {
		if m := (mask{resolve(path), true}); isFolder(m.path) && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b mask) int { return strings.Compare(a.path, b.path) })
	return found
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
	all := slices.Concat([]string{pl.dir}, pl.dirs, pl.extra, pl.readable, pl.home.parts)
	if pl.temp != "" {
		all = append(all, pl.temp)
	}
	return all
}

// setApart reports whether a path is in a directory that is set apart, and in none of
// the roots that stay visible in it.
func (pl *plan) setApart(path string) bool {
	return slices.ContainsFunc(holding(pl.apart, path), func(m mask) bool { return pl.closes(m, path) })
}

// closes reports whether a directory that is set apart hides a path in it.
func (pl *plan) closes(m mask, path string) bool {
	return !slices.ContainsFunc(pl.roots(), func(root string) bool { return within(path, root) && within(root, m.path) })
}

// visibleApart returns the directories that are set apart, without those that another
// one hides.
func (pl *plan) visibleApart() []mask {
	return slices.DeleteFunc(slices.Clone(pl.apart), func(m mask) bool {
		return slices.ContainsFunc(holding(pl.apart, m.path), func(above mask) bool { return above != m && pl.closes(above, m.path) })
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
