package gate

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// protected are files that no mission may change, in addition to those that the user names: what they say about agents
// must be the user's own words.
var protected = []string{".pawl/"}

// Protects reports whether a mission must not change a file. The path is relative to the top of the tree; a path outside
// of it is protected. A pattern without a slash matches in any directory; one with a trailing slash is a directory.
func Protects(f pawl.Criteria, name string) bool {
	name = path.Clean(name)
	return !filepath.IsLocal(name) || slices.ContainsFunc(slices.Concat(protected, f.Protected), func(pattern string) bool { return protects(pattern, name) })
}

func protects(pattern, name string) bool {
	switch {
	case strings.HasSuffix(pattern, "/"):
		return strings.Contains("/"+name+"/", "/"+pattern) // a link of that name would replace the directory
	case strings.Contains(pattern, "/"):
		return match(pattern, name)
	default:
		return match(pattern, path.Base(name))
	}
}

// testApproved reports whether the change of a test was approved.
func testApproved(a pawl.Approval, name string) bool {
	return slices.ContainsFunc(a.Tests, func(pattern string) bool { return match(pattern, name) })
}

// match reports whether name matches a pattern in which * stands for any text.
func match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	rest := name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return true
}
