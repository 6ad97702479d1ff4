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
	flakyRuns   = 5 // of the base, to learn which tests fail there at times
	flakyRounds = 4 // as often a baseline is asked that anew; then what is remembered must do
	newRuns     = 2 // more of the candidate, if it has new tests: they must pass each time
)

// settle runs tests again where one run does not tell: a test that fails now may
// have failed at times before, and a new one may pass at times only.
func (g *Gate) settle(ctx context.Context, e *evidence, b *baseline, now *plot, o *Outcome) error {
	if err := g.excuse(ctx, e, b, now, o); err != nil {
		return err
	}
	for _, c := range e.checks {
		if !e.told(c) {
			continue
		}
		if err := g.again(ctx, e, now, c, o); err != nil {
			return err
		}
	}
	return nil
}

// excuse finds the tests that fail now, and at times on the base too.
func (g *Gate) excuse(ctx context.Context, e *evidence, b *baseline, now *plot, o *Outcome) error {
	for _, c := range e.checks {
		if !e.told(c) {
			continue
		}
		if err := g.flaky(ctx, e, b, now, c, o); err != nil {
			return err
		}
	}
	o.Flaky = slices.Sorted(maps.Keys(e.flaky))
	return nil
}

// told reports whether a check has told of its tests, on the base and now.
func (e *evidence) told(c pawl.Check) bool {
	return c.Tests != "" && e.base[c.ID].Tests != nil && e.candidate[c.ID].Tests != nil
}

// flaky finds the tests that fail at times on the base too. They are excused if
// they pass at times on the candidate.
func (g *Gate) flaky(ctx context.Context, e *evidence, b *baseline, now *plot, c pawl.Check, o *Outcome) error {
	suspects := map[string]bool{}
	for _, runs := range []map[string]Ran{e.candidate, e.old} {
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

// passes runs a check some more times, and returns the tests among some that
// passed at least once.
func (g *Gate) passes(ctx context.Context, p *plot, c pawl.Check, o *Outcome, among map[string]bool) (map[string]bool, error) {
	found := map[string]bool{}
	for range cmp.Or(g.Again, flakyRuns) {
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

// again runs new tests again: the worst of all runs counts.
func (g *Gate) again(ctx context.Context, e *evidence, now *plot, c pawl.Check, o *Outcome) error {
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
