package permission

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/protect"
)

// place is a path in all spellings that a rule may use for it.
type place struct {
	rel   string // from the workspace; "" if it is outside
	added string // from a further project directory; "" if it is in none
	abs   string // "" if it is not known
	home  string // from the home directory, with a ~; "" if it is not below
}

// inside returns the path from the project directory that contains the place, or "".
func (at place) inside() string { return cmp.Or(at.rel, at.added) }

// place returns the spellings of a target. It does not follow links: callers have
// resolved the target.
func (p Policy) place(target string) (place, error) {
	switch {
	case target == "":
		return place{}, errors.New("the path is empty")
	case strings.ContainsRune(target, 0):
		return place{}, errors.New("the path contains a NUL byte")
	case strings.HasPrefix(target, `\\`) || len(target) > 2 && target[1] == ':' && (target[2] == '\\' || target[2] == '/'):
		return place{}, errors.New("paths with drive letters or backslashes are not supported")
	}
	var at place
	tilde := target == "~" || strings.HasPrefix(target, "~/")
	switch {
	case tilde && p.Home != "":
		at.abs = path.Join(p.Home, target[1:])
	case strings.HasPrefix(target, "~"):
		if clean := path.Clean(target); tilde && (clean == "~" || strings.HasPrefix(clean, "~/")) {
			at.home = clean
		}
		return at, nil
	case path.IsAbs(target):
		at.abs = path.Clean(target)
	case p.Dir != "":
		at.abs = path.Join(p.Dir, target)
	default:
		if clean := path.Clean(target); clean != ".." && !strings.HasPrefix(clean, "../") {
			at.rel = clean
		}
		return at, nil
	}
	if rel, ok := below(p.Dir, at.abs); ok {
		at.rel = rel
	}
	for _, dir := range p.Dirs {
		if rel, ok := below(dir, at.abs); ok && at.rel == "" {
			at.added = rel
		}
	}
	if rel, ok := below(p.Home, at.abs); ok {
		at.home = path.Join("~", rel)
	}
	return at, nil
}

// below returns the relative path from a directory to p, and whether p is the
// directory or below it.
func below(dir, p string) (string, bool) {
	if dir = path.Clean(dir); !path.IsAbs(dir) {
		return "", false
	}
	if p == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	return rest, ok
}

// pathPattern is a glob that matches paths.
type pathPattern struct {
	glob    string // relative to the workspace, absolute, or from ~
	folder  bool   // written with a slash at its end: all that is below too
	literal bool   // it has no wildcard
}

const (
	wildcards = `*?[{\`

	maxPath = 4096 // bytes: Linux knows no longer path
	// The time to match grows with the number of combinations of braces.
	maxBraces  = 4
	maxChoices = 32
)

// parsePath parses a pattern. It cleans it first, so that it matches the path that
// a program would open.
func parsePath(s string) (pathPattern, error) {
	p := pathPattern{folder: strings.HasSuffix(s, "/"), literal: !strings.ContainsAny(s, wildcards)}
	for part := range strings.SplitSeq(s, "/") {
		if part == ".." {
			return p, errors.New("it contains \"..\": write the resolved path")
		}
	}
	switch {
	case s == "":
		return p, errors.New("it is empty")
	case len(s) > maxPath:
		return p, fmt.Errorf("it is longer than %d bytes", maxPath)
	case strings.Count(s, "{") > maxBraces || strings.Contains(s, "{") && strings.Count(s, ",") > maxChoices:
		return p, fmt.Errorf("it has more than %d braces, or %d commas in them", maxBraces, maxChoices)
	case strings.HasPrefix(s, "~") && s != "~" && !strings.HasPrefix(s, "~/"):
		return p, errors.New("only your own home directory can be written as ~: write the whole path")
	}
	p.glob = path.Clean(s)
	if p.glob == "." { // the workspace as a whole
		p.glob, p.folder, p.literal = "**", true, false
	}
	if !doublestar.ValidatePattern(p.glob) {
		return p, errors.New("it is not a valid glob pattern")
	}
	return p, nil
}

// Follow returns the rule with symbolic links in its pattern resolved, and whether
// that changes it. real resolves the part of the pattern before the first
// wildcard; it returns "" if there is nothing to resolve.
func (r Rule) Follow(real func(path string) string) (Rule, bool) {
	m, err := r.compile()
	if err != nil || m.any || m.kind != pawl.AccessRead && m.kind != pawl.AccessWrite {
		return r, false
	}
	head, tail := m.path.glob, ""
	for strings.ContainsAny(head, wildcards) {
		head, tail = path.Dir(head), path.Join(path.Base(head), tail)
	}
	to := real(head)
	if to == "" {
		return r, false
	}
	if r.Pattern = path.Join(QuotePath(to), tail); m.path.folder {
		r.Pattern += "/"
	}
	r.Match, r.NotMatch = nil, nil // they are about the other spelling
	return r, true
}

// spelling returns the place in the form that the pattern uses (relative, absolute
// or from ~), or "" if it has none.
func (p pathPattern) spelling(at place) string {
	switch {
	case path.IsAbs(p.glob):
		return at.abs
	case strings.HasPrefix(p.glob, "~"):
		return at.home
	default:
		return at.rel
	}
}

// allows reports whether the pattern, in an allow rule, matches the place exactly.
func (p pathPattern) allows(at place) bool {
	name := p.spelling(at)
	if name == "" {
		return false
	}
	return matchPath(p.glob, name) || p.folder && slices.ContainsFunc(parents(name), func(parent string) bool { return matchPath(p.glob, parent) })
}

// covers reports whether the pattern, in a rule that asks or denies, matches the
// place. It matches generously: names are folded, a pattern covers everything below
// what it matches, one that is relative to the workspace also matches in further project
// directories, one that begins with **/ also matches paths outside of them, and writing
// a directory counts as writing what it contains.
func (p pathPattern) covers(at place, write bool) bool {
	at.rel = at.inside()
	glob, name := protect.FoldText(p.glob), p.spelling(at)
	if name == "" && strings.HasPrefix(glob, "**/") {
		name = strings.TrimPrefix(cmp.Or(at.abs, at.home), "/")
	}
	if name == "" {
		return false
	}
	for _, name := range []string{protect.Fold(name), protect.FoldText(name)} {
		if slices.ContainsFunc(append(parents(name), name), func(n string) bool { return matchPath(glob, n) }) {
			return true
		}
		if write && p.literal && (name == "." || strings.HasPrefix(glob, strings.TrimSuffix(name, "/")+"/")) {
			return true
		}
	}
	return false
}

func matchPath(glob, name string) bool {
	ok, err := doublestar.Match(glob, name)
	return ok && err == nil
}

// parents returns the directories above a path, without the root.
func parents(p string) []string {
	var all []string
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		all = append(all, dir)
	}
	if path.IsAbs(p) {
		all = append(all, "/")
	}
	return all
}

// hasWildcard reports whether a pattern may match more than one path.
func hasWildcard(glob string) bool {
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' {
			i++
		} else if strings.IndexByte("*?[{", glob[i]) >= 0 {
			return true
		}
	}
	return false
}

// QuotePath returns the pattern that matches exactly this path.
func QuotePath(p string) string {
	var b strings.Builder
	for _, r := range p {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shown returns the place for display: the absolute path where it is known.
func (at place) shown(target string) string {
	if at.abs != "" {
		return at.abs
	}
	if at.rel != "" {
		return at.rel
	}
	return target
}
