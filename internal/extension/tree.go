package extension

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// tree is a frontmatter.Tree that is opened for each access, so that results
// can be kept and need no Close.
type tree string

// OpenReal opens a file. It returns an error if a part of its path is a link.
func (t tree) OpenReal(path string) (*os.File, error) {
	w, err := workspace.Open(string(t))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.OpenReal(path)
}

// RealFolder opens a directory. It returns an error if a part of its path is a
// link.
func (t tree) RealFolder(path string) (*os.Root, error) {
	w, err := workspace.Open(string(t))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.RealFolder(path)
}

func folder(path string) frontmatter.Directory {
	if path == "" {
		return frontmatter.Directory{}
	}
	path = real(path)
	return frontmatter.Directory{Tree: tree(path), Path: path}
}

// strange are directories with third-party files: trust in a project does not
// cover their rules.
var strange = []string{"node_modules", "vendor", "third_party", ".git"}

// covered returns a function that reports whether the rules of a directory are
// trusted. Rules are only texts, so trust in a directory covers the
// directories below it, except nested repositories and third-party
// directories. Directories below the working directory are not checked one by
// one, which would be slow.
func (p Places) covered(top, worked string) func(dir string) bool {
	if p.Trusted == nil {
		return nil
	}
	return func(dir string) bool {
		for ; within(dir, top); dir = filepath.Dir(dir) {
			below := within(dir, worked) && dir != worked
			if !below && p.Trusted(dir) {
				return true
			}
			if dir == top || own(dir) {
				return false
			}
		}
		return false
	}
}

// within reports whether a path is a directory or below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// own reports whether a directory is not a part of the project above it.
func own(dir string) bool {
	if slices.Contains(strange, filepath.Base(dir)) {
		return true
	}
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}
