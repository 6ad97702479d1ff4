package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// baseline is what the checks showed on the base. It is found out once, and all
// candidates are held to it.
type baseline struct {
	frozen string // the hash of what it is about
	plot   *plot
	ran    map[string]Ran             // the first run of each check
	runs   []pawl.CheckRun            // all of them, in their order
	failed map[string]map[string]bool // by check: the tests that passed at first and failed in another run
	more   map[string]int             // by check: how many other runs there were
}

// Baseline runs the checks on the base, unless that was done already, and returns
// the runs. A gate remembers one baseline, by the hash of what is frozen; Run and
// Check make it by themselves if there is none.
func (g *Gate) Baseline(ctx context.Context, f Frozen) ([]pawl.CheckRun, error) {
	b, err := g.baseline(ctx, f)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.runs), nil
}

// baseline is the one that is remembered, or a new one in its place.
func (g *Gate) baseline(ctx context.Context, f Frozen) (*baseline, error) {
	if g.base != nil && g.base.frozen == f.Hash() {
		return g.base, nil
	}
	if changed := changedTools(f); len(changed) > 0 {
		return nil, fmt.Errorf("the program %s is not what it was when the checks were frozen: bring it back, or freeze the checks anew: %w", changed[0], pawl.ErrDenied)
	}
	if g.base != nil {
		old := g.base
		g.base = nil
		if err := g.remove(old.plot); err != nil {
			return nil, err
		}
	}
	entries, err := g.Repo.Tree(ctx, f.Base)
	if err != nil {
		return nil, err
	}
	p, err := g.plant(ctx, "base", entries)
	if err != nil {
		return nil, err
	}
	b := &baseline{frozen: f.Hash(), plot: p, failed: map[string]map[string]bool{}, more: map[string]int{}}
	if err := g.found(ctx, b, f); err != nil {
		return nil, errors.Join(err, g.remove(p))
	}
	g.base = b
	return b, nil
}

// found runs the checks for a baseline. From then on its tree stays apart: code
// of a candidate never runs where it is.
func (g *Gate) found(ctx context.Context, b *baseline, f Frozen) error {
	if err := g.fromSeed(ctx, b.plot.cache); err != nil {
		return err
	}
	var o Outcome
	var err error
	if b.ran, err = g.all(ctx, b.plot, f.Checks, &o); err != nil {
		return err
	}
	b.runs, b.plot.apart = o.Runs, true
	return errors.Join(g.vacate(), g.toSeed(ctx, b.plot.cache))
}

// fails are the tests among some that fail at times on the base. What was seen
// there is remembered, so the base is run again only for what is not known, and
// not for ever.
func (g *Gate) fails(ctx context.Context, b *baseline, c pawl.Check, o *Outcome, among map[string]bool) (map[string]bool, error) {
	again := cmp.Or(g.Again, flakyRuns)
	found := b.known(c, among)
	for range again {
		if len(found) == len(among) || b.more[c.ID] >= again*flakyRounds {
			break
		}
		ran, err := g.once(ctx, b.plot, c, o)
		if err != nil {
			return nil, err
		}
		b.note(c, ran)
		found = b.known(c, among)
	}
	return found, nil
}

// note remembers another run of a check.
func (b *baseline) note(c pawl.Check, ran Ran) {
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

// known are the tests among some that are known to fail at times.
func (b *baseline) known(c pawl.Check, among map[string]bool) map[string]bool {
	found := map[string]bool{}
	for name := range among {
		if b.failed[c.ID][name] {
			found[name] = true
		}
	}
	return found
}
