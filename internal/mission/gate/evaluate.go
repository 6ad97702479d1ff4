package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// CheckResult is a check run with its test results.
type CheckResult = checkrun.Result

// evidence holds the results of all runs, by check id.
type evidence struct {
	checks    []pawl.Check
	criteria  []pawl.Criterion
	base      map[string]CheckResult
	candidate map[string]CheckResult
	old       map[string]CheckResult // the base's tests on the candidate's code
	new       map[string]CheckResult // the candidate's tests on the base's code
	flaky     map[string]bool
	approved  pawl.Approval
	renamed   map[string]string // old names of tests by new ones, as written in the files
}

// newEvidence returns the evidence known before the candidate is checked.
func newEvidence(f pawl.Criteria, b *baseline) *evidence {
	proofs := slices.DeleteFunc(slices.Clone(f.Checks), func(c pawl.Check) bool { return c.Kind == pawl.CheckSetup })
	return &evidence{checks: proofs, approved: f.Approval, base: b.ran, flaky: map[string]bool{}}
}

// faults collects the reasons why a candidate does not pass.
type faults []pawl.GateFault

func (f *faults) add(rule, item, format string, args ...any) {
	*f = append(*f, pawl.GateFault{Rule: rule, Item: item, Text: fmt.Sprintf(format, args...)})
}

// evaluate returns the faults that the runs show.
func (e *evidence) evaluate() faults {
	var f faults
	required := map[string]string{}
	for _, c := range e.criteria {
		for _, id := range c.Checks {
			required[id] = c.ID
		}
	}
	for _, c := range e.checks {
		switch ran, ok := e.candidate[c.ID]; {
		case !ok:
			f.add("check-missing", c.ID, "check %s was not run", c.ID)
		case c.Tests != "":
			e.evaluateTests(&f, c, ran, required[c.ID])
		default:
			e.evaluateCheck(&f, c, ran, required[c.ID])
		}
	}
	return f
}

// evaluateCheck evaluates a check that only passes or fails.
func (e *evidence) evaluateCheck(f *faults, c pawl.Check, ran CheckResult, criterion string) {
	before, known := e.base[c.ID]
	switch {
	case ran.OK():
	case criterion != "":
		f.add("check-failed", c.ID, "%s must pass for %s, but %s:\n%s", c.ID, criterion, ran.Ended(), ran.Tail)
	case known && !before.OK() && before.Fault == ran.Fault: // it failed before in the same way
	default:
		f.add("check-failed", c.ID, "%s passed on the base, but now %s:\n%s", c.ID, ran.Ended(), ran.Tail)
	}
}

// evaluateTests evaluates a check that reports its tests.
func (e *evidence) evaluateTests(f *faults, c pawl.Check, ran CheckResult, criterion string) {
	base := e.base[c.ID]
	if ran.Tests == nil {
		f.add("check-failed", c.ID, "%s %s and did not report its tests (%s):\n%s", c.ID, ran.Ended(), ran.Text, ran.Tail)
		return
	}
	before := base.Tests
	if before == nil { // the base had no tests, or they did not run
		before = &inventory.Inventory{}
	}
	known := len(*f)
	e.missing(f, before, ran.Tests)
	e.failing(f, before, ran.Tests)
	e.oldTests(f, c, before)
	e.newTests(f, c, before, ran.Tests)
	switch {
	case ran.OK() || len(*f) > known:
	case criterion != "":
		f.add("check-failed", c.ID, "%s must pass for %s, but %s:\n%s", c.ID, criterion, ran.Ended(), ran.Tail)
	case ran.Fault != "" || base.OK() && !e.excused(ran.Tests):
		f.add("check-failed", c.ID, "%s %s, although no test fails that passed before:\n%s", c.ID, ran.Ended(), ran.Tail)
	}
}

// excused reports whether a run failed only because of known flaky tests.
func (e *evidence) excused(v *inventory.Inventory) bool {
	failed := v.Names(inventory.Failed)
	return len(failed) > 0 && len(v.Broken) == 0 && !slices.ContainsFunc(failed, func(n string) bool { return !e.flaky[n] })
}

// missing reports tests that passed on the base and are now missing or skipped.
func (e *evidence) missing(f *faults, before, now *inventory.Inventory) {
	for _, name := range before.Names(inventory.Passed) {
		if testApproved(e.approved, name) || e.flaky[name] {
			continue
		}
		switch status, there := now.Tests[name]; {
		case !there && slices.Contains(now.Broken, inventory.Holder(name)): // reported by failing
		case !there && e.isRenamed(before, now, name):
		case !there && before.Whole(name) != name && now.Tests[before.Whole(name)] == inventory.Passed:
			// A subtest of a test that still exists: oldTests detects whether it was weakened.
		case !there:
			f.add("test-deleted", name, "test %s passed on the base and no longer runs: restore it under the same name", name)
		case status == inventory.Skipped:
			f.add("test-skipped", name, "test %s passed on the base and is now skipped: let it run", name)
		}
	}
}

// isRenamed reports whether a test of the base now passes under another name, with the same body.
func (e *evidence) isRenamed(before, now *inventory.Inventory, name string) bool {
	for fresh, old := range e.renamed {
		if !named(before, name, old) {
			continue
		}
		for _, test := range now.Names(inventory.Passed) {
			if named(now, test, fresh) {
				return true
			}
		}
	}
	return false
}

// wasRenamed reports whether a test only has a new name.
func (e *evidence) wasRenamed(now *inventory.Inventory, name string) bool {
	for fresh := range e.renamed {
		if named(now, name, fresh) {
			return true
		}
	}
	return false
}

// failing reports tests that fail now and did not before.
func (e *evidence) failing(f *faults, before, now *inventory.Inventory) {
	for _, name := range now.Names(inventory.Failed) {
		if before.Tests[name] == inventory.Failed || e.flaky[name] {
			continue
		}
		if whole := now.Whole(name); whole != name && now.Tests[whole] == inventory.Failed && before.Tests[whole] != inventory.Failed {
			continue // the enclosing test is reported
		}
		f.add("test-failed", name, "test %s fails", name)
	}
	for _, holder := range now.Broken {
		if !slices.Contains(before.Broken, holder) {
			f.add("tests-broken", holder, "the tests of %s cannot run: they do not build, or they end too early", holder)
		}
	}
}

// oldTests evaluates the base's tests on the candidate's code: a weakened test passes in its new form but not
// in its old one.
func (e *evidence) oldTests(f *faults, c pawl.Check, before *inventory.Inventory) {
	ran, ok := e.old[c.ID]
	if !ok {
		return
	}
	if ran.Tests == nil {
		f.add("test-weakened", c.ID, "the tests of the base cannot run on this code (%s): if the tests were meant to change, allow it explicitly", ran.Text)
		return
	}
	broken := map[string]bool{}
	for _, name := range before.Names(inventory.Passed) {
		holder := inventory.Holder(name)
		status, there := ran.Tests.Tests[name]
		switch {
		case status == inventory.Passed, testApproved(e.approved, name), e.flaky[name]:
		case !there && slices.Contains(ran.Tests.Broken, holder):
			broken[holder] = true
		case before.Whole(name) != name && before.Tests[before.Whole(name)] == inventory.Passed && ran.Tests.Tests[before.Whole(name)] != inventory.Passed:
			// the enclosing test is reported
		case !there:
			f.add("test-weakened", name, "test %s of the base does not run with this code: something ends the tests early or skips them", name)
		default:
			f.add("test-weakened", name, "test %s of the base is %s with this code: the changed test was weakened to pass", name, status)
		}
	}
	for _, holder := range slices.Sorted(maps.Keys(broken)) {
		f.add("test-weakened", holder, "the tests of %s as of the base do not run with this code: what they use has changed; if that was intended, allow it explicitly", holder)
	}
}

// newTests evaluates new tests on the base's code: a test that passes there too proves nothing.
func (e *evidence) newTests(f *faults, c pawl.Check, before, now *inventory.Inventory) {
	ran, ok := e.new[c.ID]
	if !ok || ran.Tests == nil { // without the new code they do not even run
		return
	}
	for _, name := range now.Names(inventory.Passed) {
		if _, old := before.Tests[name]; old || now.Whole(name) != name || testApproved(e.approved, name) || e.wasRenamed(now, name) {
			continue
		}
		if ran.Tests.Tests[name] == inventory.Passed {
			f.add("test-vacuous", name, "new test %s also passes without the change, so it proves nothing: make it test what is new", name)
		}
	}
}

// testApproved reports whether the change of a test was approved.
func testApproved(a pawl.Approval, name string) bool {
	return slices.ContainsFunc(a.Tests, func(pattern string) bool { return match(pattern, name) })
}

// fileApproved reports whether the change of a protected file was approved.
func fileApproved(a pawl.Approval, name string) bool {
	return slices.ContainsFunc(a.Files, func(pattern string) bool { return match(pattern, name) })
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
