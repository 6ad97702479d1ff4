package experiment

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// runBase runs the checks on the base.
func (x *experiments) runBase(ctx context.Context) (err error) {
	if err := x.setUpBase(ctx); err != nil {
		return err
	}
	if x.onBase, err = x.runAll(ctx, &variant{on: "base", of: x.base}, x.proofs()); err != nil {
		return err
	}
	x.warm.Store(true)
	return nil
}

// setUpBase runs the setup checks of the base, once.
func (x *experiments) setUpBase(ctx context.Context) error {
	if x.baseReady {
		return nil
	}
	x.baseReady = true
	return x.setUp(ctx, x.base)
}

// runHead runs the checks on the head: what passes on the base must pass there.
func (x *experiments) runHead(ctx context.Context) error {
	if err := x.compareHead(ctx); err != nil {
		return err
	}
	return x.anyWorks()
}

// compareHead runs the checks on the head, and reports those that are worse than on the base.
func (x *experiments) compareHead(ctx context.Context) (err error) {
	if err := x.head.renew(x.changed); err != nil {
		return err
	}
	if err := x.setUp(ctx, x.head); err != nil {
		return err
	}
	if x.onHead, err = x.runAll(ctx, &variant{on: "candidate", of: x.head}, x.proofs()); err != nil {
		return err
	}
	x.assignRoles()
	for _, c := range x.proofs() {
		if err := x.compareCheck(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// anyWorks returns an error if there are checks and none of them works on either side: that says nothing about the change.
func (x *experiments) anyWorks() error {
	for _, c := range x.proofs() {
		for _, r := range []result{x.onBase[c.ID], x.onHead[c.ID]} {
			if r.OK() || r.Tests != nil {
				return nil
			}
		}
	}
	for _, c := range x.proofs() {
		r := x.onHead[c.ID]
		if x.Goal {
			x.findf(Failure, "check-failed", c.ID, "%s %s:\n%s", c.ID, r.Ended(), r.Tail)
			continue
		}
		return fault.New(pawl.ErrUnavailable, "no check works, neither on the base nor on the change: %s %s:\n%s", c.ID, r.Ended(), r.Tail).
			Hint("Run it yourself on the base, or name another command after --.")
	}
	return nil
}

// compareCheck reports a check that is worse on the head than on the base.
func (x *experiments) compareCheck(ctx context.Context, c pawl.Check) error {
	was, is := x.onBase[c.ID], x.onHead[c.ID]
	if is.Tests == nil {
		if is.OK() && (c.Tests == "" || was.Tests == nil) || !was.OK() && was.Fault == is.Fault && was.Tests == nil {
			return nil
		}
		if c.Tests != "" {
			x.findf(Failure, "check-failed", c.ID, "%s %s and did not report its tests (%s):\n%s", c.ID, is.Ended(), is.Text, is.Tail)
			return nil
		}
		x.findf(Failure, "check-failed", c.ID, "%s passed on the base, but now %s:\n%s", c.ID, is.Ended(), is.Tail)
		return nil
	}
	bad, err := x.steady(ctx, c, worseTests(was.Tests, is.Tests))
	if err != nil {
		return err
	}
	for _, name := range bad {
		x.findf(Failure, "test-failed", name, "test %s fails", name)
	}
	for _, holder := range is.Tests.Broken {
		if was.Tests == nil || !slices.Contains(was.Tests.Broken, holder) {
			x.findf(Failure, "tests-broken", holder, "the tests of %s cannot run: they do not build, or they end too early:\n%s", holder, is.Tail)
		}
	}
	if !is.OK() && len(bad) == 0 && len(is.Tests.Broken) == 0 && (was.OK() || is.Fault != "") && len(is.Tests.Names(inventory.Failed)) == 0 {
		x.findf(Failure, "check-failed", c.ID, "%s %s, although no test fails:\n%s", c.ID, is.Ended(), is.Tail)
	}
	return nil
}

// worseTests returns the tests that fail now and did not before.
func worseTests(was, is *inventory.Inventory) (names []string) {
	for _, name := range is.Names(inventory.Failed) {
		if was == nil || was.Tests[name] != inventory.Failed {
			names = append(names, name)
		}
	}
	return names
}

// repeats is how often a test that fails is repeated on the base, to see whether it is flaky there.
const repeats = 3

// steady returns those of the tests that fail on the head and are not flaky on the base.
func (x *experiments) steady(ctx context.Context, c pawl.Check, names []string) ([]string, error) {
	was := x.onBase[c.ID].Tests
	known := func(name string) bool { return was != nil && was.Tests[name] == inventory.Passed }
	if !slices.ContainsFunc(names, known) {
		return names, nil
	}
	if err := x.setUpBase(ctx); err != nil {
		return nil, err
	}
	flaky := map[string]bool{}
	for range repeats {
		r, err := x.runCheck(ctx, &variant{on: "base again", of: x.base}, c)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if known(name) && r.Tests != nil && r.Tests.Tests[name] == inventory.Failed {
				flaky[name] = true
			}
		}
	}
	for name := range flaky {
		x.findf(Note, "flaky", name, "test %s is flaky, also on the base", name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return flaky[name] }), nil
}

// codeError matches messages about code that does not fit together, rather than about a wrong result.
var codeError = regexp.MustCompile(`\b(ImportError|ModuleNotFoundError|NameError|AttributeError|SyntaxError|IndentationError|ReferenceError|NoMethodError|ClassNotFoundException|NoSuchMethodError|LoadError)\b|` +
	`TypeError: .*(argument|is not a (function|constructor)|not callable|not iterable|undefined)|` +
	`is not defined|has no attribute|undefined reference|undefined:|undefined method|undefined (function|variable|name)|cannot find (symbol|module|package|name)|Cannot find module|Call to undefined|` +
	`(?m)^[^\s:]+:\d+(:\d+)?: (fatal )?error:|error\[E\d+\]|error: could not compile|\[build failed\]|no required module|is not in std|command not found|No rule to make target|implicit declaration|unresolved import|not enough arguments|too many arguments|build failed|No such file or directory|ENOENT`)

// oldTests runs the base's tests on the head's code: what worked must still work.
func (x *experiments) oldTests(ctx context.Context) error {
	restored := x.withRole(test, setting)
	inline := x.oldInline()
	if len(restored) == 0 && len(inline) == 0 {
		x.countHolding(x.onHead)
		return nil
	}
	like := map[string]*side{}
	for _, p := range restored {
		like[p] = x.base
	}
	v := &variant{on: "old tests", of: x.head, like: like, write: inline}
	results, err := x.runAll(ctx, v, x.tests())
	if err != nil {
		return err
	}
	settings := x.withRole(setting)
	if len(settings) > 0 && !x.allHold(results) {
		// The new code may need what the settings add, such as a dependency.
		if again, err := x.withNewSettings(ctx, v, settings, results); err != nil {
			return err
		} else if again != nil {
			results = again
		}
	}
	for _, c := range x.tests() {
		if err := x.compareOld(ctx, c, results[c.ID]); err != nil {
			return err
		}
	}
	x.countHolding(results)
	return nil
}

// withNewSettings repeats old tests with the settings of the head, if those of the base do not fit the new code. It
// returns nil if they fit, or if the new settings make no difference.
func (x *experiments) withNewSettings(ctx context.Context, v *variant, settings []string, before map[string]result) (map[string]result, error) {
	misfit := false
	for _, c := range x.tests() {
		r := before[c.ID]
		misfit = misfit || !x.holds(c, r) && codeError.MatchString(r.Printed)
	}
	if !misfit {
		return nil, nil
	}
	other := *v
	other.on, other.like = "old tests, new settings", maps.Clone(v.like)
	for _, p := range settings {
		delete(other.like, p)
	}
	return x.runAll(ctx, &other, x.tests())
}

// oldInline returns the files with product code of the head and inline tests of the base.
func (x *experiments) oldInline() map[string][]byte {
	files := map[string][]byte{}
	for _, p := range x.withRole(product) {
		was, ok := x.base.read(p)
		if !ok {
			continue
		}
		is, ok := x.head.read(p)
		if !ok {
			continue
		}
		if text, ok := swapInline(p, is, was); ok {
			files[p] = text
		}
	}
	return files
}

// holds reports whether the tests of the base pass in a run.
func (x *experiments) holds(c pawl.Check, r result) bool {
	was := x.onBase[c.ID]
	if was.Tests == nil {
		return r.OK() || !was.OK()
	}
	if r.Tests == nil {
		return false
	}
	return len(x.lost(c, r)) == 0
}

func (x *experiments) allHold(results map[string]result) bool {
	return !slices.ContainsFunc(x.tests(), func(c pawl.Check) bool { return !x.holds(c, results[c.ID]) })
}

// lost returns the tests that passed on the base and do not in a run. It leaves out subtests of a test that is lost, and
// what was approved.
func (x *experiments) lost(c pawl.Check, r result) (names []string) {
	was := x.onBase[c.ID].Tests
	for _, name := range was.Names(inventory.Passed) {
		whole := was.Whole(name)
		if r.Tests.Tests[name] == inventory.Passed || x.Approved(name) || x.Approved(whole) {
			continue
		}
		if whole != name && was.Tests[whole] == inventory.Passed && r.Tests.Tests[whole] != inventory.Passed {
			continue
		}
		names = append(names, name)
	}
	return names
}

// compareOld reports the tests of the base that do not hold on the new code.
func (x *experiments) compareOld(ctx context.Context, c pawl.Check, r result) error {
	was := x.onBase[c.ID]
	if x.holds(c, r) {
		return nil
	}
	misfit := codeError.MatchString(r.Printed)
	if was.Tests == nil || r.Tests == nil {
		if x.Approved(c.ID) {
			return nil
		}
		if misfit {
			x.ask(Question, "old-tests", c.ID, "the tests of the base do not fit the new code, so they cannot tell whether it still works: approve that they change?\n"+r.Tail)
			return nil
		}
		x.ask(Failure, "old-tests", c.ID, "with the tests of the base, "+c.ID+" "+r.Ended()+":\n"+r.Tail)
		return nil
	}
	names, err := x.steady(ctx, c, x.lost(c, r))
	if err != nil {
		return err
	}
	for _, name := range names {
		_, there := r.Tests.Tests[name]
		broken := slices.Contains(r.Tests.Broken, inventory.Holder(name))
		switch message := r.Tests.Messages[name]; {
		case !there && broken, !there && len(r.Tests.Broken) > 0 && misfit, x.misfit(message):
			x.ask(Question, "old-tests", name, "test "+name+" of the base does not fit the new code, so it cannot tell whether that still works: approve that it changes?")
		case !there:
			x.ask(Failure, "old-tests", name, "test "+name+" of the base does not run with the new code: something skips it or ends the tests early")
		default:
			x.ask(Failure, "old-tests", name, "test "+name+" of the base is "+string(r.Tests.Tests[name])+" with the new code; if that is wanted, approve it")
		}
	}
	return nil
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,}`)

// misfit reports whether a test of the base fails because it uses something that the new code does not have: the first line
// of the message is about code that does not fit together, and names something that the tests of the base name.
func (x *experiments) misfit(message string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(message, ": \n"), "\n")
	if strings.Contains(first, "AssertionError") || !codeError.MatchString(first) {
		return false
	}
	named := map[string]bool{}
	for _, w := range word.FindAllString(first, -1) {
		named[w] = !common[w]
	}
	return slices.ContainsFunc(x.withRole(test), func(p string) bool {
		body, _ := x.base.read(p)
		return slices.ContainsFunc(word.FindAll(body, -1), func(w []byte) bool { return named[string(w)] })
	})
}

// common are words of messages that say nothing about a test.
var common = map[string]bool{
	"ImportError": true, "NameError": true, "AttributeError": true, "TypeError": true, "ReferenceError": true, "Error": true, "name": true, "not": true, "defined": true,
	"function": true, "has": true, "attribute": true, "module": true, "object": true, "argument": true, "arguments": true, "the": true, "and": true, "from": true, "import": true,
	"cannot": true, "undefined": true, "error": true, "self": true, "positional": true, "missing": true, "required": true, "takes": true, "given": true, "were": true, "but": true, "str": true, "int": true,
}

func (x *experiments) countHolding(results map[string]result) {
	for _, c := range x.tests() {
		was, r := x.onBase[c.ID].Tests, results[c.ID].Tests
		if was == nil || r == nil {
			continue
		}
		for _, name := range was.Names(inventory.Passed) {
			if r.Tests[name] == inventory.Passed {
				x.out.Holding++
			}
		}
	}
}

// newTests runs the head's tests on the base's code, and counts those that need the change.
func (x *experiments) newTests(ctx context.Context) error {
	restored := x.withRole(product, data)
	if len(restored) == 0 || len(x.withRole(test)) == 0 && len(x.newInline()) == 0 {
		return nil
	}
	like := map[string]*side{}
	for _, p := range restored {
		like[p] = x.base
	}
	inline := x.newInline()
	results, err := x.runAll(ctx, &variant{on: "new tests", of: x.head, like: like, write: inline}, x.tests())
	if err != nil {
		return err
	}
	fresh := 0
	for _, c := range x.tests() {
		is, r := x.onHead[c.ID].Tests, results[c.ID].Tests
		if is == nil {
			if !results[c.ID].OK() {
				x.out.New++
			}
			continue
		}
		for _, name := range is.Names(inventory.Passed) {
			if was := x.onBase[c.ID].Tests; was != nil && was.Tests[name] == inventory.Passed && (r == nil || r.Tests[name] != inventory.Failed) {
				continue
			}
			fresh++
			if r == nil || r.Tests[name] != inventory.Passed {
				x.out.New++
			}
		}
	}
	if fresh > 0 && x.out.New == 0 {
		x.findf(Note, "new-tests", "", "no new test fails on the old code: the tests do not show what the change is for")
	}
	return x.newExpectations(ctx)
}

// newExpectations changes what the tests of new files expect: at least one of each file must notice that.
func (x *experiments) newExpectations(ctx context.Context) error {
	for _, c := range x.tests() {
		if x.onHead[c.ID].Tests == nil || !x.onHead[c.ID].OK() {
			continue
		}
		blind := map[string]bool{}
		for round := range maxRounds {
			write := map[string][]byte{}
			for _, p := range x.testFiles(x.head, c) {
				body, ok := x.head.read(p)
				if _, old := x.base.entries[p]; old || !ok || round > 0 && !blind[p] {
					continue
				}
				if text, ok := wrongIn(p, body, round, true); ok {
					write[p] = text
				}
			}
			if len(write) == 0 {
				break
			}
			r, err := x.runCheck(ctx, &variant{on: "wrong expectation in new tests", of: x.head, write: write}, c)
			if err != nil {
				return err
			}
			for p := range write {
				blind[p] = r.Tests != nil && !slices.ContainsFunc(vanished(x.onHead[c.ID].Tests, r.Tests), func(name string) bool {
					q, ok := x.head.fileOf(path.Join(c.Dir, inventory.Holder(name)), c.Tests)
					return ok && q == p || !ok
				})
			}
		}
		for p, is := range blind {
			if is {
				x.findf(Gap, "vacuous", p, "the tests in %s pass whatever they expect", p)
			}
		}
	}
	return nil
}

// newInline returns the files with product code of the base and inline tests of the head.
func (x *experiments) newInline() map[string][]byte {
	files := map[string][]byte{}
	for _, p := range x.withRole(product) {
		is, ok := x.head.read(p)
		if !ok {
			continue
		}
		was, ok := x.base.read(p)
		if !ok {
			continue
		}
		if text, ok := swapInline(p, was, is); ok {
			files[p] = text
		}
	}
	return files
}

// each calls do for all items at once; slots bound what runs.
func each[T any](ctx context.Context, items []T, do func(ctx context.Context, item T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, item := range items {
		g.Go(func() error { return do(ctx, item) })
	}
	return g.Wait()
}

// lines splits a text into lines with their ends.
func lines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }
