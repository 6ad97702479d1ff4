package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/protect"
)

// topFiles are protected files that cannot be created at the top of a workspace. Programs ignore a directory in
// their place; protected directories need no list.
var topFiles = []string{
	".mcp.json", ".envrc", ".npmrc", ".ripgreprc", ".gitmodules", ".gitconfig",
	".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
}

// guard matches names to protect or hide.
type guard struct {
	names    map[string]bool // folded, in addition to the table of package protect
	patterns []string        // folded
}

func newGuard(p Profile) (guard, error) {
	g := guard{names: map[string]bool{}}
	for _, name := range p.Protected {
		name = strings.Trim(path.Clean("/"+name), "/")
		if name != "" && !strings.Contains(name, "/") {
			g.names[protect.FoldName(name)] = true
		}
	}
	for _, pattern := range p.Hidden {
		if !strings.HasPrefix(pattern, "/") {
			if _, err := path.Match(pattern, ""); err != nil {
				return g, fmt.Errorf("hide %q: %w", pattern, err)
			}
			g.patterns = append(g.patterns, protect.FoldText(pattern))
		}
	}
	return g, nil
}

// top returns the paths, relative to the workspace, that cannot be created, in their
// usual spelling: on a case-sensitive file system, others have no effect.
func top(p Profile) []string {
	list := slices.Clone(topFiles)
	for _, g := range protect.Groups() {
		for _, name := range g.Names {
			if dir, ok := strings.CutSuffix(name, "/"); ok && !strings.Contains(dir, "/") {
				list = append(list, dir)
			}
		}
	}
	for _, name := range p.Protected {
		if name = strings.Trim(path.Clean("/"+name), "/"); name != "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// protects reports whether an entry of a directory is protected.
func (g guard) protects(dir, name string) bool {
	return g.names[protect.FoldName(name)] || protect.Entry(path.Join(dir, name))
}

// Hides returns a function that reports whether a path, relative to a directory, is hidden.
func (p Profile) Hides(dir string) (func(rel string) bool, error) {
	g, err := newGuard(p)
	if err != nil {
		return nil, err
	}
	dir = resolve(dir)
	return func(rel string) bool {
		for name := range strings.SplitSeq(rel, "/") {
			if g.hides(name) {
				return true
			}
		}
		at := path.Join(dir, rel)
		return slices.ContainsFunc(p.Hidden, func(hidden string) bool { return strings.HasPrefix(hidden, "/") && within(at, hidden) })
	}, nil
}

func (g guard) hides(name string) bool {
	return slices.ContainsFunc(g.patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, protect.FoldName(name)) // newGuard has read it
		return ok
	})
}
