package search

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	nameBytes  = 1000 // of a name pattern
	nameBraces = 8    // of a name pattern: each may double the work of a match
)

// Names is a pattern for paths, with *, **, ?, [classes] and {alternatives}.
// One without a slash is matched with names in any directory, one with a slash
// with the path below the directory that is searched. "" matches all.
type Names struct {
	pattern string
	base    bool // match the last element only
}

// ParseNames checks a pattern.
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

// Split returns the directory that a pattern begins with, "." if with none, and
// the pattern for what is below it. So src/**/*.go needs no look beside src.
func (n Names) Split() (dir string, below Names) {
	dir, pattern := doublestar.SplitPattern(n.pattern)
	return dir, Names{pattern: pattern, base: n.base}
}

// match matches a path below the directory that is searched.
func (n Names) match(p string) bool {
	if n.pattern == "" {
		return true
	}
	if n.base {
		p = path.Base(p)
	}
	return doublestar.MatchUnvalidated(n.pattern, p)
}

// below returns a path as seen from a directory that it is in.
func below(dir, p string) string {
	if dir == "." {
		return p
	}
	return p[len(dir)+1:]
}
