package experiment

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

// controls finds out whether the results of the checks can be trusted: whether the checks notice what is wrong, and only
// that. A control that fails on the base too says that the check is blind there, which is no fault of the change.
func (x *experiments) controls(ctx context.Context) error {
	return each(ctx, []func(context.Context) error{x.touch, x.comment, x.expectations, x.failingTests, x.repeat}, func(ctx context.Context, do func(context.Context) error) error {
		return do(ctx)
	})
}

// noticed reports whether checks notice what is wrong with a variant, compared with the results on its side. It stops at
// the first check that does.
func (x *experiments) noticed(ctx context.Context, v *variant, checks []pawl.Check, before map[string]result) (bool, result, error) {
	var last result
	for _, c := range checks {
		was := before[c.ID]
		if !was.OK() && was.Tests == nil {
			continue // it cannot get worse
		}
		r, err := x.runCheck(ctx, v, c)
		if err != nil {
			return false, r, err
		}
		last = r
		if was.OK() && !r.OK() || was.Tests != nil && (r.Tests == nil || len(vanished(was.Tests, r.Tests)) > 0) {
			return true, r, nil
		}
	}
	return false, last, nil
}

// vanished returns the tests that passed before and do not now.
func vanished(was, is *inventory.Inventory) (names []string) {
	for _, name := range was.Names(inventory.Passed) {
		if is.Tests[name] != inventory.Passed {
			names = append(names, name)
		}
	}
	return names
}

// maxTouched bounds the files that the touch control breaks.
const maxTouched = 12

// touch breaks each changed source file: a check that reads the file fails.
func (x *experiments) touch(ctx context.Context) error {
	files := slices.DeleteFunc(x.withRole(product), func(p string) bool { _, ok := x.head.read(p); return !ok })
	if len(files) > maxTouched {
		x.findf(Note, "touch", "", "only %d of %d changed files were broken to see whether the checks read them", maxTouched, len(files))
		for _, p := range files[maxTouched:] {
			x.notice(p)
		}
		files = files[:maxTouched]
	}
	return each(ctx, files, x.touchFile)
}

func (x *experiments) notice(p string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.noticing[p] = true
}

func (x *experiments) touchFile(ctx context.Context, p string) error {
	body, _ := x.head.read(p)
	src, ok := mutate.Parse(p, body)
	if !ok {
		return nil
	}
	broken, ok := src.Break()
	if !ok {
		x.notice(p)
		return nil
	}
	seen, r, err := x.noticed(ctx, &variant{on: "touch " + p, of: x.head, write: map[string][]byte{p: broken}}, x.testsFirst(), x.onHead)
	if err != nil {
		return err
	}
	if seen {
		x.notice(p)
		return x.narrowTo(ctx, p, r)
	}
	was, known := x.base.read(p)
	if !known {
		x.findf(Gap, "unread", p, "no check reads %s: an error in it is not noticed", p)
		return nil
	}
	src, ok = mutate.Parse(p, was)
	if !ok {
		return nil
	}
	broken, _ = src.Break()
	seen, _, err = x.noticed(ctx, &variant{on: "touch " + p + " on the base", of: x.base, write: map[string][]byte{p: broken}}, x.testsFirst(), x.onBase)
	switch {
	case err != nil:
		return err
	case seen:
		x.findf(Failure, "unread", p, "the checks no longer notice an error in %s; on the base they do", p)
	default:
		x.findf(Gap, "unread", p, "no check reads %s: an error in it is not noticed, on the base neither", p)
	}
	return nil
}

// testsFirst returns the checks that notice errors, those with tests first: they count for mutants.
func (x *experiments) testsFirst() []pawl.Check {
	return append(x.tests(), x.checksOf(pawl.CheckBuild, pawl.CheckTypes)...)
}

// comment adds a comment to each changed source file, and statements that do nothing to the changed functions: nothing may
// change.
func (x *experiments) comment(ctx context.Context) error {
	write := map[string][]byte{}
	for _, p := range x.withRole(product) {
		body, ok := x.head.read(p)
		if !ok {
			continue
		}
		if text, ok := x.withNothing(p, body); ok {
			write[p] = text
		}
	}
	if len(write) == 0 {
		return nil
	}
	seen, r, err := x.noticed(ctx, &variant{on: "comment", of: x.head, write: write}, x.tests(), x.onHead)
	if err == nil && seen && buildError.MatchString(r.Printed) { // the statements do not fit; a comment does
		for p := range write {
			body, _ := x.head.read(p)
			if src, ok := mutate.Parse(p, body); ok {
				if write[p], ok = src.Comment(); !ok {
					delete(write, p)
				}
			}
		}
		seen, r, err = x.noticed(ctx, &variant{on: "comment", of: x.head, write: write}, x.tests(), x.onHead)
	}
	if err != nil || !seen {
		return err
	}
	again, _, err := x.noticed(ctx, &variant{on: "candidate again", of: x.head}, x.tests(), x.onHead)
	if err != nil {
		return err
	}
	if again {
		x.findf(Failure, "flaky", r.Check, "%s does not give the same result twice on the same code:\n%s", r.Check, r.Tail)
		return nil
	}
	x.untrusted = true
	x.findf(Gap, "pinned", r.Check, "%s fails if a comment or a statement that does nothing is added to the changed code: it depends on the text of the code, so what it notices proves nothing:\n%s", r.Check, r.Tail)
	return nil
}

// withNothing returns a file with a comment at its end, and with statements that do nothing before changed lines.
func (x *experiments) withNothing(p string, body []byte) ([]byte, bool) {
	src, ok := mutate.Parse(p, body)
	if !ok {
		return nil, false
	}
	lines := x.changedCode(p)
	slices.Reverse(lines) // so that the numbers of the others stay
	changed := false
	for _, line := range lines {
		if text, ok := src.Nothing(line); ok {
			if src, ok = mutate.Parse(p, text); !ok {
				return nil, false
			}
			changed = true
		}
	}
	if text, ok := src.Comment(); ok {
		return text, true
	}
	return src.Text, changed
}

// repeat runs the tests twice in another directory, time zone and locale and without the variables of CI: nothing may
// change.
func (x *experiments) repeat(ctx context.Context) error {
	if !x.Views {
		return nil // every copy is in another directory
	}
	v := &variant{on: "elsewhere", of: x.head, moved: true, twice: true}
	seen, r, err := x.noticed(ctx, v, shuffled(x.tests()), x.onHead)
	if err != nil || !seen {
		return err
	}
	before, _, err := x.noticed(ctx, &variant{on: "elsewhere on the base", of: x.base, moved: true, twice: true}, shuffled(x.tests()), x.onBase)
	switch {
	case err != nil:
		return err
	case before, x.flakyOnBase(r):
		x.findf(Note, "elsewhere", r.Check, "%s gives another result elsewhere (directory, time zone, locale, no CI), on the base too", r.Check)
	default:
		x.findf(Failure, "elsewhere", r.Check, "%s passes only here and once: the second time, in another directory, time zone and locale and without the variables of CI, it fails:\n%s", r.Check, r.Tail)
	}
	return nil
}

// flakyOnBase reports whether a run is worse than that of the head only because of tests that failed on the base too.
func (x *experiments) flakyOnBase(r result) bool {
	was, is := x.onBase[r.Check].Tests, x.onHead[r.Check].Tests
	if was == nil || is == nil || r.Tests == nil || len(r.Tests.Broken) > 0 {
		return false
	}
	lost := vanished(is, r.Tests)
	return len(lost) > 0 && !slices.ContainsFunc(lost, func(name string) bool { return was.Tests[name] != inventory.Failed })
}

// shuffled returns checks that run their tests in another order, where that is possible.
func shuffled(checks []pawl.Check) []pawl.Check {
	list := slices.Clone(checks)
	for i, c := range list {
		if c.Tests == "gotest" && len(c.Args) > 2 && c.Args[1] == "test" {
			list[i].Args = slices.Insert(slices.Clone(c.Args), 2, "-shuffle=7")
		}
	}
	return list
}

// failingTests adds a failing test to each file with tests: it must be reported, and the check must fail.
func (x *experiments) failingTests(ctx context.Context) error {
	for _, c := range x.tests() {
		if x.onHead[c.ID].Tests == nil || !x.onHead[c.ID].OK() {
			continue
		}
		missed, any, err := x.unseen(ctx, c, x.head, "failing test", nil)
		if err != nil {
			return err
		}
		if len(missed) == 0 {
			continue
		}
		also, _, err := x.unseen(ctx, c, x.base, "failing test on the base", missed)
		if err != nil {
			return err
		}
		for _, p := range missed {
			if _, ok := x.base.entries[p]; !ok || slices.Contains(also, p) {
				if !any {
					x.findf(Gap, "blind", p, "a failing test that was added to %s is not reported", p)
				}
				continue
			}
			x.findf(Failure, "blind", p, "a failing test that was added to %s is not reported; on the base it is", p)
		}
	}
	return nil
}

// unseen adds a failing test to each test file of a side, or to those given, and returns those in which it is not
// reported. It also reports whether any was.
func (x *experiments) unseen(ctx context.Context, c pawl.Check, s *side, on string, only []string) (missed []string, some bool, err error) {
	write, names := map[string][]byte{}, map[string]string{}
	for _, p := range x.testFiles(s, c) {
		if only != nil && !slices.Contains(only, p) {
			continue
		}
		if body, ok := s.read(p); ok {
			names[p] = "pawl" + random()
			if text, ok := addFailing(c, p, body, names[p]); ok {
				write[p] = text
			}
		}
	}
	if len(write) == 0 {
		return nil, false, nil
	}
	r, err := x.runCheck(ctx, &variant{on: on, of: s, write: write}, c)
	if err != nil {
		return nil, false, err
	}
	for p := range write {
		if !r.OK() && r.Tests != nil && reportedIn(c, r.Tests, p, names[p]) {
			some = true
		} else {
			missed = append(missed, p)
		}
	}
	slices.Sort(missed)
	return missed, some, nil
}

// reportedIn reports whether a test with the name, in a file, has failed.
func reportedIn(c pawl.Check, v *inventory.Inventory, p, name string) bool {
	for test, status := range v.Tests {
		if status != inventory.Failed || !strings.Contains(strings.ToLower(test), name) {
			continue
		}
		holder := inventory.Holder(test)
		stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
		if c.Tests == "gotest" || c.Tests == "cargo" || strings.Contains(holder, stem) || holder == "" {
			return true
		}
	}
	// If the tests of a file no longer load, then a failure can be seen.
	return slices.ContainsFunc(v.Broken, func(b string) bool { return strings.Contains(b, strings.TrimSuffix(path.Base(p), path.Ext(p))) })
}

const (
	maxExpectations = 4 // files in which an expectation is changed, one at a time
	maxRounds       = 3 // expectations of each test that are changed, if the check reports its tests
)

// expectations changes what tests of the base expect: those that the base notices must be noticed with the head's code,
// helpers and settings too.
func (x *experiments) expectations(ctx context.Context) error {
	for _, c := range x.tests() {
		was := x.onBase[c.ID]
		if !was.OK() || !x.onHead[c.ID].OK() {
			continue
		}
		tries := x.wrongTests(c, was.Tests != nil)
		if err := each(ctx, tries, func(ctx context.Context, write map[string][]byte) error { return x.expectWrong(ctx, c, write) }); err != nil {
			return err
		}
	}
	return nil
}

// wrongTests returns test files of the base with wrong expectations. If the check reports its tests, then a set has one in
// each test of all files; otherwise it has only one, and files that the change touches come first.
func (x *experiments) wrongTests(c pawl.Check, reports bool) (sets []map[string][]byte) {
	files := x.testFiles(x.base, c)
	slices.SortStableFunc(files, func(a, b string) int {
		return btoi(slices.Contains(x.changed, b)) - btoi(slices.Contains(x.changed, a))
	})
	for round := range maxRounds {
		all := map[string][]byte{}
		for _, p := range files {
			if _, ok := x.head.entries[p]; !ok {
				continue
			}
			body, ok := x.base.read(p)
			if !ok {
				continue
			}
			text, ok := wrongIn(p, body, round, reports)
			switch {
			case ok && reports:
				all[p] = text
			case ok && len(sets) < maxExpectations:
				sets = append(sets, map[string][]byte{p: text})
			}
		}
		if len(all) > 0 {
			sets = append(sets, all)
		}
	}
	return sets
}

// wrongIn returns a test file with wrong expectations: one in each test, where blank lines separate tests, or only one.
func wrongIn(p string, body []byte, round int, inEach bool) ([]byte, bool) {
	src, ok := mutate.Parse(p, body)
	if !ok {
		return nil, false
	}
	found := src.Expectations()
	if !inEach {
		if len(found) == 0 { // a harness of its own: any literal may be an expectation
			found = spread(src.Literals())
		}
		if round >= len(found) {
			return nil, false
		}
		text := src.Replace(found[round])
		return text, text != nil
	}
	tests := map[int][]mutate.Literal{} // by the blank line before
	rows := lines(body)
	for _, l := range found {
		block := l.Line
		for block > 0 && strings.TrimSpace(rows[block-1]) != "" {
			block--
		}
		tests[block] = append(tests[block], l)
	}
	var chosen []mutate.Literal
	for _, list := range tests {
		if round < len(list) {
			chosen = append(chosen, list[round])
		}
	}
	slices.SortFunc(chosen, func(a, b mutate.Literal) int { return b.Start - a.Start }) // so that the positions of the others stay
	for _, l := range chosen {
		if src, ok = mutate.Parse(p, src.Replace(l)); !ok {
			return nil, false
		}
	}
	return src.Text, len(chosen) > 0
}

// spread returns a few literals from all over a file.
func spread(all []mutate.Literal) (some []mutate.Literal) {
	for i := range maxRounds {
		if at := (2*i + 1) * len(all) / (2 * maxRounds); at < len(all) {
			some = append(some, all[at])
		}
	}
	return some
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// expectWrong compares what the base and the head notice of wrong expectations.
func (x *experiments) expectWrong(ctx context.Context, c pawl.Check, write map[string][]byte) error {
	was, err := x.runCheck(ctx, &variant{on: "wrong expectation on the base", of: x.base, write: write}, c)
	if err != nil || was.OK() {
		return err
	}
	is, err := x.runCheck(ctx, &variant{on: "wrong expectation", of: x.head, write: write}, c)
	if err != nil {
		return err
	}
	var files []string
	for p := range write {
		files = append(files, p)
	}
	slices.Sort(files)
	if is.OK() {
		x.findf(Failure, "blind", c.ID, "%s no longer notices a wrong expectation in %s; on the base it does", c.ID, strings.Join(files, ", "))
		return nil
	}
	if was.Tests == nil || is.Tests == nil {
		return nil
	}
	for _, name := range vanished(x.onBase[c.ID].Tests, was.Tests) {
		if is.Tests.Tests[name] == inventory.Passed {
			x.findf(Failure, "blind", name, "test %s no longer notices a wrong expectation; on the base it does", name)
		}
	}
	return nil
}

// random returns a word that code cannot know beforehand.
func random() string { return strings.ToLower(rand.Text()[:12]) }
