package ignore

import "strings"

// Rules are the ignore files from the top directory down to some directory. They do
// not change; directories below share those of their parents. Nil ignores nothing.
//
// A pattern of .ignore counts more than any of .gitignore; among files of one
// kind the innermost counts, and in a file the last line that matches.
type Rules struct {
	parent *Rules
	dir    string // where the files are: "" or a path that ends with a slash
	git    []pattern
	plain  []pattern
}

// Files are a directory's ignore files; nil stands for one that does not exist.
type Files struct {
	Git   []byte // .gitignore
	Plain []byte // .ignore
}

// In returns the rules for what is in a directory, given by its path from the top
// directory, which is ".".
func (r *Rules) In(dir string, files Files) *Rules {
	git, plain := parse(files.Git), parse(files.Plain)
	if len(git) == 0 && len(plain) == 0 {
		return r
	}
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	return &Rules{parent: r, dir: prefix, git: git, plain: plain}
}

// Ignored reports whether an entry is to be passed over. The rules must be
// those of the directory that it is in, and its path begins at the top directory. A
// link is no directory.
func (r *Rules) Ignored(path string, folder bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for at := r; at != nil; at = at.parent {
		if ignored, said := decide(at.plain, path[len(at.dir):], name, folder); said {
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

func decide(patterns []pattern, path, name string, folder bool) (ignored, said bool) {
	for i := len(patterns) - 1; i >= 0; i-- {
		if patterns[i].matches(path, name, folder) {
			return !patterns[i].include, true
		}
	}
	return false, false
}
