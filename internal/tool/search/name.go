package search

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	nameBytes  = 1000 // bytes of a name pattern
	nameBraces = 8    // braces in a name pattern: each may double the work of a match
)

// Names is a pattern for paths, with *, **, ?, [classes] and {alternatives}. A
// pattern without a slash matches file names in any directory; one with a
// slash matches the path relative to the searched directory. "" matches
// everything.
type Names struct {
	pattern string
	base    bool // match the last path element only
}

// ParseNames parses a name pattern.
func ParseNames(pattern string) (Names, error) {
	switch {
	case len(pattern) > nameBytes || strings.Count(pattern, "{") > nameBraces:
		return Names{}, errors.New("the pattern is too long")
	case !doublestar.ValidatePattern(pattern):
		return Names{}, fmt.Errorf("the pattern %s is malformed: a [ or { has no end, perhaps", pattern)
	}
	base := !strings.Contains(pattern, "/")
	for strings.HasPrefix(pattern, "./") {
		pattern = pattern[len("./"):]
	}
	return Names{pattern, base}, nil
}

// Split returns the directory that a pattern starts with ("." if none) and the
// pattern for paths below it, so that src/**/*.go searches src only.
func (n Names) Split() (dir string, below Names) {
	dir, pattern := doublestar.SplitPattern(n.pattern)
	return dir, Names{pattern: pattern, base: n.base}
}

// match reports whether a path relative to the searched directory matches.
func (n Names) match(p string) bool {
	if n.pattern == "" {
		return true
	}
	if n.base {
		p = path.Base(p)
	}
	return doublestar.MatchUnvalidated(n.pattern, p)
}

// below returns path p relative to dir, which contains it.
func below(dir, p string) string {
	if dir == "." {
		return p
	}
	return p[len(dir)+1:]
}
