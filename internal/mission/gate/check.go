package gate

import (
	"context"
	"errors"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// Check decides quickly whether a commit is as good as the base, for the merge queue. It runs the checks once
// on the commit and compares the results with the baseline. It leaves deleted, skipped and weakened tests,
// protected files and the criteria to Run. The outcome has the runs on the commit, and on the base where they
// were repeated.
func (g *Gate) Check(ctx context.Context, f pawl.Criteria, commit string) (o Outcome, err error) {
	o, err = g.begin(ctx, f, commit)
	if err != nil || !o.Passed() {
		return o, err
	}
	b, err := g.baseline(ctx, f)
	if err != nil {
		return o, err
	}
	entries, err := g.Repo.Tree(ctx, o.Candidate)
	if err != nil {
		return o, err
	}
	now, err := g.newCheckout(ctx, "merge", entries)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, g.remove(now)) }()
	o.Tree = now.tree
	if err := copyCache(now, b.checkout.cache); err != nil {
		return o, err
	}
	e := newEvidence(f, b)
	if e.candidate, err = g.all(ctx, now, f.Checks, &o); err != nil {
		return o, err
	}
	if err := g.findFlaky(ctx, e, b, now, &o); err != nil {
		return o, err
	}
	o.Faults, o.Before = e.worse(), e.before()
	return o, nil
}

// worse returns what is worse than on the base, by the runs alone.
func (e *evidence) worse() faults {
	var f faults
	for _, c := range e.checks {
		if c.Tests == "" {
			e.evaluateCheck(&f, c, e.candidate[c.ID], "")
		} else {
			e.worseTests(&f, c, e.base[c.ID], e.candidate[c.ID])
		}
	}
	return f
}

// worseTests compares a check that reports its tests.
func (e *evidence) worseTests(f *faults, c pawl.Check, base, ran CheckResult) {
	same := !base.OK() && base.Fault == ran.Fault // it failed before, in the same way
	if ran.Tests == nil {
		if !same || base.Tests != nil {
			f.add("check-failed", c.ID, "%s %s and did not report its tests (%s):\n%s", c.ID, ran.Ended(), ran.Text, ran.Tail)
		}
		return
	}
	before := base.Tests
	if before == nil { // the base had no tests, or they did not run
		before = &inventory.Inventory{}
	}
	known := len(*f)
	e.failing(f, before, ran.Tests)
	if !ran.OK() && len(*f) == known && !same && !e.excused(ran.Tests) {
		f.add("check-failed", c.ID, "%s %s, although no test fails that passed before:\n%s", c.ID, ran.Ended(), ran.Tail)
	}
}
