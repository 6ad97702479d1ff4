package discover

import (
	"regexp"
	"slices"

	"github.com/pawl-dev/pawl"
)

var perlTest = regexp.MustCompile(`^t/.*\.t$`)

// perl finds tests that prove runs.
func perl(t *tree) (list []Found) {
	dirs := []directory{{t, ""}}
	for _, d := range append(dirs, t.directories("Makefile.PL", "Build.PL", "cpanfile", "dist.ini")...) {
		if files := d.files(perlTest); len(files) > 0 && !t.tests(d.path) && !slices.ContainsFunc(list, func(f Found) bool { return f.Dir == d.path }) {
			list = append(list, d.check("prove", pawl.CheckTest, files[0], "is a test of Perl", "prove", "--lib", "--recurse", "--verbose", "--merge", "--nocolor", "t").reports("tap", ""))
		}
	}
	return list
}
