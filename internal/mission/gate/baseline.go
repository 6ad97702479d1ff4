package gate

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// baseline holds the results of the checks on the base. It is computed once and shared by all candidates.
type baseline struct {
	criteria string // hash of the criteria
	checkout *checkout
	ran      map[string]CheckResult     // the first run of each check
	runs     []pawl.CheckRun            // all runs, in order
	failed   map[string]map[string]bool // by check: tests that passed in the first run and failed in another
	more     map[string]int             // by check: number of further runs
}

// Baseline runs the checks on the base, unless that was done already, and returns the runs. A gate caches one
// baseline, by the hash of the criteria. Run and Check compute it if needed.
func (g *Gate) Baseline(ctx context.Context, f pawl.Criteria) ([]pawl.CheckRun, error) {
	b, err := g.baseline(ctx, f)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.runs), nil
}

// baseline returns the cached baseline, or computes a new one.
func (g *Gate) baseline(ctx context.Context, f pawl.Criteria) (*baseline, error) {
	if g.base != nil && g.base.criteria == f.Hash() {
		return g.base, nil
	}
	if changed := changedTools(f); len(changed) > 0 {
		return nil, fault.New(pawl.ErrDenied, "program %s has changed since the criteria were set: restore it, or set the criteria again", changed[0])
	}
	if g.base != nil {
		old := g.base
		g.base = nil
		if err := g.remove(old.checkout); err != nil {
			return nil, err
		}
	}
	entries, err := g.Repo.Tree(ctx, f.Base)
	if err != nil {
		return nil, err
	}
	p, err := g.newCheckout(ctx, "base", entries)
	if err != nil {
		return nil, err
	}
	b := &baseline{criteria: f.Hash(), checkout: p, failed: map[string]map[string]bool{}, more: map[string]int{}}
	if err := g.runBaseline(ctx, b, f); err != nil {
		return nil, errors.Join(err, g.remove(p))
	}
	g.base = b
	return b, nil
}

// runBaseline runs the checks for a baseline. After that its tree stays apart: code of a candidate never runs in it.
func (g *Gate) runBaseline(ctx context.Context, b *baseline, f pawl.Criteria) error {
	if err := g.fromSeed(ctx, b.checkout.cache); err != nil {
		return err
	}
	var o Outcome
	var err error
	if b.ran, err = g.all(ctx, b.checkout, f.Checks, &o); err != nil {
		return err
	}
	b.runs, b.checkout.apart = o.Runs, true
	return errors.Join(g.deactivate(), g.toSeed(ctx, b.checkout.cache))
}

// fails returns those of the given tests that sometimes fail on the base. It repeats the check on the base for
// the tests not known to fail, a bounded number of times.
func (g *Gate) fails(ctx context.Context, b *baseline, c pawl.Check, o *Outcome, among map[string]bool) (map[string]bool, error) {
	reruns := cmp.Or(g.Reruns, flakyRuns)
	found := b.known(c, among)
	for range reruns {
		if len(found) == len(among) || b.more[c.ID] >= reruns*flakyRounds {
			break
		}
		ran, err := g.once(ctx, b.checkout, c, o)
		if err != nil {
			return nil, err
		}
		b.note(c, ran)
		found = b.known(c, among)
	}
	return found, nil
}

// note records another run of a check.
func (b *baseline) note(c pawl.Check, ran CheckResult) {
	b.more[c.ID]++
	b.runs = append(b.runs, ran.CheckRun)
	if ran.Tests == nil {
		return
	}
	if b.failed[c.ID] == nil {
		b.failed[c.ID] = map[string]bool{}
	}
	for _, name := range ran.Tests.Names(inventory.Failed) {
		b.failed[c.ID][name] = true
	}
}

// known returns those of the given tests that are known to fail sometimes.
func (b *baseline) known(c pawl.Check, among map[string]bool) map[string]bool {
	found := map[string]bool{}
	for name := range among {
		if b.failed[c.ID][name] {
			found[name] = true
		}
	}
	return found
}
