package ignore

import "strings"

// Rules holds the patterns of the ignore files from the top directory down to one
// directory. Rules are immutable; directories share the rules of their parents. A
// nil *Rules ignores nothing.
//
// Patterns of .ignore take precedence over those of .gitignore. Among files of the
// same kind the innermost one takes precedence, and within a file the last matching
// line.
type Rules struct {
	parent *Rules
	dir    string // directory of these files: "" or a path that ends with a slash
	git    []pattern
	ignore []pattern
}

// Files holds the contents of a directory's ignore files; nil means that a file
// does not exist.
type Files struct {
	Git    []byte // .gitignore
	Ignore []byte // .ignore
}

// In returns the rules for the entries of dir, which has the given ignore files.
// dir is relative to the top directory, which is ".".
func (r *Rules) In(dir string, files Files) *Rules {
	git, ignore := parse(files.Git), parse(files.Ignore)
	if len(git) == 0 && len(ignore) == 0 {
		return r
	}
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	return &Rules{parent: r, dir: prefix, git: git, ignore: ignore}
}

// Ignored reports whether an entry is ignored. path is relative to the top
// directory, and r must be the rules of the entry's directory. A symbolic link does
// not count as a directory.
func (r *Rules) Ignored(path string, folder bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for at := r; at != nil; at = at.parent {
		if ignored, said := decide(at.ignore, path[len(at.dir):], name, folder); said {
			return ignored
		}
	}
	for at := r; at != nil; at = at.parent {
		if ignored, said := decide(at.git, path[len(at.dir):], name, folder); said {
			return ignored
		}
	}
	return false
}

// decide returns whether the last pattern that matches ignores the entry; said is
// false if none matches.
func decide(patterns []pattern, path, name string, folder bool) (ignored, said bool) {
	for i := len(patterns) - 1; i >= 0; i-- {
		if patterns[i].matches(path, name, folder) {
			return !patterns[i].include, true
		}
	}
	return false, false
}
