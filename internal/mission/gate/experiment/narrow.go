package experiment

import (
	"context"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// slowCheck is from how long on a check runs only a part of its tests on mutants.
const slowCheck = 10 * time.Second

// narrowed is a check that runs only the tests that can notice a mistake in a file.
type narrowed struct {
	check  pawl.Check
	before result // of these tests, on the head
}

// importPath matches packages that can be named on a command line.
var importPath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./~-]*$`)

// narrow returns a check of Go packages with only those whose tests an error in a file has stopped. A test that runs while
// the file does not compile does not use it, so it cannot notice a mistake in it either.
func narrow(c pawl.Check, was, touched result) (n narrowed, ok bool) {
	last := len(c.Args) - 1
	if c.Tests != "gotest" || last < 2 || filepath.Base(c.Args[0]) != "go" || c.Args[1] != "test" || c.Args[last] != "./..." || was.Tests == nil || !was.OK() || touched.Tests == nil {
		return n, false
	}
	packages, all := map[string]bool{}, map[string]bool{}
	for _, name := range vanished(was.Tests, touched.Tests) {
		packages[inventory.Holder(name)] = true
	}
	before := *was.Tests
	before.Tests = maps.Clone(was.Tests.Tests)
	for name := range was.Tests.Tests {
		all[inventory.Holder(name)] = true
		if !packages[inventory.Holder(name)] {
			delete(before.Tests, name)
		}
	}
	list := slices.Sorted(maps.Keys(packages))
	if len(list) == 0 || len(list) == len(all) || slices.ContainsFunc(list, func(p string) bool { return !importPath.MatchString(p) }) {
		return n, false
	}
	n.check, n.before = c, was
	n.check.Args, n.before.Tests = slices.Concat(c.Args[:last], list), &before
	return n, true
}

// narrowTo lets mutants of a file run only the tests that noticed an error in it, if the check is slow. These tests must pass
// on the head by themselves: otherwise they would notice every mutant.
func (x *experiments) narrowTo(ctx context.Context, p string, touched result) error {
	i := slices.IndexFunc(x.Checks, func(c pawl.Check) bool { return c.ID == touched.Check })
	if i < 0 || x.onHead[touched.Check].Duration < x.slow {
		return nil
	}
	n, ok := narrow(x.Checks[i], x.onHead[touched.Check], touched)
	if !ok {
		return nil
	}
	seen, _, err := x.noticed(ctx, &variant{on: "candidate, tests of " + p, of: x.head}, []pawl.Check{n.check}, map[string]result{n.check.ID: n.before})
	if err != nil || seen {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.narrow[p] = n
	return nil
}

// testsOf returns the checks that run tests, and their results on the head, with only the tests that can notice a mistake
// in a file.
func (x *experiments) testsOf(p string) ([]pawl.Check, map[string]result) {
	x.mu.Lock()
	n, ok := x.narrow[p]
	x.mu.Unlock()
	checks := x.tests()
	if !ok {
		return checks, x.onHead
	}
	before := maps.Clone(x.onHead)
	before[n.check.ID] = n.before
	for i := range checks {
		if checks[i].ID == n.check.ID {
			checks[i] = n.check
		}
	}
	return checks, before
}
