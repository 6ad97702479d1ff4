package gate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

const (
	flakyRuns   = 5 // runs of the base, to find flaky tests
	flakyRounds = 4 // how often a baseline repeats that; after that it uses what is known
	newRuns     = 2 // additional runs of the candidate's new tests: they must pass each time
)

// rerunUncertain repeats tests where one run is not conclusive: a failing test may be flaky on the base too, and a new
// test may be flaky.
func (g *Gate) rerunUncertain(ctx context.Context, e *evidence, b *baseline, now *checkout, o *Outcome) error {
	if err := g.findFlaky(ctx, e, b, now, o); err != nil {
		return err
	}
	for _, c := range e.checks {
		if !e.reportsTests(c) {
			continue
		}
		if err := g.rerunNew(ctx, e, now, c, o); err != nil {
			return err
		}
	}
	return nil
}

// findFlaky finds the tests that fail now and are flaky on the base.
func (g *Gate) findFlaky(ctx context.Context, e *evidence, b *baseline, now *checkout, o *Outcome) error {
	for _, c := range e.checks {
		if !e.reportsTests(c) {
			continue
		}
		if err := g.flaky(ctx, e, b, now, c, o); err != nil {
			return err
		}
	}
	o.Flaky = slices.Sorted(maps.Keys(e.flaky))
	return nil
}

// reportsTests reports whether a check has reported its tests, on the base and on the candidate.
func (e *evidence) reportsTests(c pawl.Check) bool {
	return c.Tests != "" && e.base[c.ID].Tests != nil && e.candidate[c.ID].Tests != nil
}

// flaky finds failing tests that are flaky on the base. They are excused if they also pass sometimes on the
// candidate.
func (g *Gate) flaky(ctx context.Context, e *evidence, b *baseline, now *checkout, c pawl.Check, o *Outcome) error {
	suspects := map[string]bool{}
	for _, runs := range []map[string]CheckResult{e.candidate, e.old} {
		tests := runs[c.ID].Tests
		if tests == nil {
			continue
		}
		for _, name := range tests.Names(inventory.Failed) {
			if e.base[c.ID].Tests.Tests[name] == inventory.Passed {
				suspects[name] = true
			}
		}
	}
	failed, err := g.fails(ctx, b, c, o, suspects)
	if err != nil || len(failed) == 0 {
		return err
	}
	passed, err := g.passes(ctx, now, c, o, failed)
	for name := range passed {
		e.flaky[name] = true
	}
	for name := range failed {
		if e.candidate[c.ID].Tests.Tests[name] == inventory.Passed {
			e.flaky[name] = true
		}
	}
	return err
}

// passes repeats a check, and returns those of the given tests that passed at least once.
func (g *Gate) passes(ctx context.Context, p *checkout, c pawl.Check, o *Outcome, among map[string]bool) (map[string]bool, error) {
	found := map[string]bool{}
	for range cmp.Or(g.Reruns, flakyRuns) {
		if len(found) == len(among) {
			break
		}
		ran, err := g.once(ctx, p, c, o)
		if err != nil {
			return nil, err
		}
		for name := range among {
			if ran.Tests != nil && ran.Tests.Tests[name] == inventory.Passed {
				found[name] = true
			}
		}
	}
	return found, nil
}

// rerunNew repeats new tests: the worst of all runs counts.
func (g *Gate) rerunNew(ctx context.Context, e *evidence, now *checkout, c pawl.Check, o *Outcome) error {
	ran := e.candidate[c.ID]
	fresh := slices.DeleteFunc(ran.Tests.Names(inventory.Passed), func(name string) bool {
		_, old := e.base[c.ID].Tests.Tests[name]
		return old
	})
	if len(fresh) == 0 {
		return nil
	}
	for range newRuns {
		more, err := g.once(ctx, now, c, o)
		if err != nil {
			return err
		}
		for _, name := range fresh {
			if more.Tests == nil || more.Tests.Tests[name] != inventory.Passed {
				ran.Tests.Tests[name] = inventory.Failed
			}
		}
	}
	return nil
}
