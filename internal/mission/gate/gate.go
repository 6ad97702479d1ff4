// Package gate finds out whether a change may count as done: it runs the checks
// itself, on a fresh tree that holds the candidate and nothing else, and compares
// what it sees with the base. What a model says counts for nothing here.
package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Gate runs checks. It is for one goroutine at a time; others of the same
// repository and with the same Seed may be at work beside it, in other processes
// too.
type Gate struct {
	Repo *git.Repo
	Dir  string // a directory of pawl's own for trees and caches, of this gate alone; it goes with Close
	// Sandbox puts a command into a sandbox, with a way out to some hosts. Where there is
	// none it is an error.
	Box func(ctx context.Context, args []string, p sandbox.Profile, hosts []string) (sandbox.Wrapped, error)
	// Hidden are whole paths that no check sees: the repository and the worktrees,
	// whose history and whose future are not for the tests to read.
	Hidden []string
	// Seed is a directory that keeps the cache of the base's checks from one gate to
	// the next; "" means that none is kept. No code of a candidate ever reaches it.
	Seed string
	// Review is asked when nothing else speaks against a candidate: it may find
	// something, and must say a word to what is suspicious. nil means that nobody is
	// there to ask: then what is suspicious speaks against the candidate.
	Review func(ctx context.Context, d Dossier) ([]pawl.GateFault, error)
	// Again is how often tests are run once more on the base to learn which fail there
	// at times; 0 means 5.
	Again int
	// Ran is told of each check when it has run, so of the baseline's once; nil tells
	// nobody. An error ends it all.
	Ran func(Ran) error

	plots  int
	seated *plot     // the tree that has the seat; nil if it is empty
	base   *baseline // nil until there is one
}

// Outcome is what a gate has found.
type Outcome struct {
	Frozen     string           `json:"frozen"` // its hash
	Base       string           `json:"base"`
	Candidate  string           `json:"candidate"`
	Tree       string           `json:"tree"` // of the candidate
	Runs       []pawl.CheckRun  `json:"runs"`
	Faults     []pawl.GateFault `json:"faults"`
	Suspicions []pawl.GateFault `json:"suspicions,omitempty"` // what a reviewer must say a word to
	Flaky      []string         `json:"flaky,omitempty"`      // tests that passed and failed on the base, and here
	Before     []string         `json:"before,omitempty"`     // tests that failed before as well
}

// Open reports whether nothing speaks against the candidate.
func (o Outcome) Open() bool { return len(o.Faults) == 0 }

// Run judges a candidate. A fault of the machinery is an error; all that the
// candidate did wrong is in the outcome. The runs of the outcome begin with those
// of the baseline.
func (g *Gate) Run(ctx context.Context, f Frozen, candidate string) (Outcome, error) {
	o, err := g.begin(ctx, f, candidate)
	if err != nil || !o.Open() {
		return o, err
	}
	c, err := g.compare(ctx, f, o.Candidate)
	if err != nil {
		return o, err
	}
	var found faults
	c.look(&found)
	e, err := g.gather(ctx, f, c, &o)
	if err != nil {
		return o, err
	}
	found = append(found, e.judge()...)
	o.Faults, o.Suspicions, o.Before = found, c.suspicious(), e.before()
	return o, g.review(ctx, f, c, e, &o)
}

// begin finds the commit that is asked about, and makes sure of the programs that
// are to judge it.
func (g *Gate) begin(ctx context.Context, f Frozen, commit string) (Outcome, error) {
	o := Outcome{Frozen: f.Hash(), Base: f.Base}
	var err error
	if o.Candidate, err = g.Repo.Commit(ctx, commit); err != nil {
		return o, err
	}
	var found faults
	if changed := changedTools(f); len(changed) > 0 {
		found.add("tool-changed", changed[0], "the program %s is not what it was when the checks were frozen", changed[0])
	}
	o.Faults = found
	return o, nil
}

// review has the candidate looked at, if nothing speaks against it yet.
func (g *Gate) review(ctx context.Context, f Frozen, c *comparison, e *evidence, o *Outcome) error {
	if len(o.Faults) > 0 {
		return nil
	}
	if g.Review == nil {
		for _, s := range o.Suspicions {
			o.Faults = append(o.Faults, pawl.GateFault{Rule: "needs-review", Item: s.Item, Text: s.Text + ": somebody has to look at this"})
		}
		return nil
	}
	found, err := g.Review(ctx, newDossier(f, *o, c, e))
	o.Faults = append(o.Faults, found...)
	return err
}

// gather runs the checks on all trees that something can be seen on. A tree goes
// as soon as nothing more can be seen on it.
func (g *Gate) gather(ctx context.Context, f Frozen, c *comparison, o *Outcome) (e *evidence, err error) {
	b, err := g.baseline(ctx, f)
	if err != nil {
		return nil, err
	}
	o.Runs = slices.Clone(b.runs)
	e = newEvidence(f, b)
	e.criteria, e.renamed = f.Criteria, c.renamed()
	now, err := g.plant(ctx, "candidate", c.candidate)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove(now)) }()
	o.Tree = now.tree
	if err := lend(now, b.plot.cache); err != nil {
		return nil, err
	}
	if e.candidate, err = g.all(ctx, now, f.Checks, o); err != nil {
		return nil, err
	}
	tests := slices.DeleteFunc(slices.Clone(f.Checks), func(c pawl.Check) bool { return c.Tests == "" && c.Kind != pawl.CheckSetup })
	if !slices.ContainsFunc(tests, func(c pawl.Check) bool { return c.Tests != "" }) {
		return e, nil
	}
	if e.old, err = g.oldTests(ctx, c, b.plot.cache, tests, o); err != nil {
		return nil, err
	}
	if e.new, err = g.newTests(ctx, c, now.cache, tests, o); err != nil {
		return nil, err
	}
	return e, g.settle(ctx, e, b, now, o)
}

// oldTests runs the base's tests on the candidate's code.
func (g *Gate) oldTests(ctx context.Context, c *comparison, cache string, checks []pawl.Check, o *Outcome) (ran map[string]Ran, err error) {
	p, err := g.plant(ctx, "old-tests", mixed(c.candidate, c.base))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove(p)) }()
	if err := lend(p, cache); err != nil {
		return nil, err
	}
	return g.all(ctx, p, checks, o)
}

// newTests runs the candidate's tests on the base's code. They are what would
// spoil a cache, and have the candidate's already.
func (g *Gate) newTests(ctx context.Context, c *comparison, cache string, checks []pawl.Check, o *Outcome) (ran map[string]Ran, err error) {
	p, err := g.plant(ctx, "new-tests", mixed(c.base, c.candidate))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove(p)) }()
	p.cache = cache
	return g.all(ctx, p, checks, o)
}

// all runs the checks, one after the other.
func (g *Gate) all(ctx context.Context, p *plot, checks []pawl.Check, o *Outcome) (map[string]Ran, error) {
	runs := map[string]Ran{}
	for _, c := range checks {
		ran, err := g.once(ctx, p, c, o)
		if err != nil {
			return nil, err
		}
		if c.Kind == pawl.CheckSetup && !ran.OK() {
			return nil, fmt.Errorf("%s could not prepare the tree (%s), so nothing can be checked: %s: %w", c.ID, ended(ran), ran.Tail, pawl.ErrUnavailable)
		}
		runs[c.ID] = ran
	}
	return runs, nil
}

func (g *Gate) once(ctx context.Context, p *plot, c pawl.Check, o *Outcome) (Ran, error) {
	ran, err := g.run(ctx, p, c)
	if err != nil {
		return ran, err
	}
	o.Runs = append(o.Runs, ran.CheckRun)
	if g.Ran != nil {
		err = g.Ran(ran)
	}
	return ran, err
}

// Place is a name for what is kept of a repository.
func Place(dir string) string { return strings.TrimPrefix(hash([]byte(dir)), "sha256:")[:16] }

// before are the tests that fail and failed before.
func (e *evidence) before() (names []string) {
	for id, now := range e.candidate {
		was := e.base[id]
		if now.Tests == nil || was.Tests == nil {
			continue
		}
		for _, name := range now.Tests.Names(inventory.Failed) {
			if was.Tests.Tests[name] == inventory.Failed {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
