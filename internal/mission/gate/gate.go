// Package gate verifies a change: it runs the project's checks itself, in a sandbox on a fresh checkout of the
// candidate, and compares the results with those of the base commit. It also detects tests that were deleted,
// skipped or weakened. What a model claims about the change does not count.
package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Gate runs checks on commits of a repository. It is not safe for concurrent use, but several gates may share a
// repository and a Seed, also between processes.
type Gate struct {
	Repo *git.Repo
	Dir  string // for trees and caches of this gate only; Close removes it
	// Sandbox wraps a command in a sandbox with network access to the given hosts. It returns an error if there is
	// no sandbox.
	Sandbox func(ctx context.Context, args []string, p sandbox.Profile, hosts []string) (sandbox.Wrapped, error)
	// Views, if not nil, reports whether the sandbox can show directories as copy-on-write views.
	Views func(ctx context.Context) (bool, error)
	// Hidden are absolute paths that checks cannot see, such as the repository and the worktrees, whose history
	// would reveal the base or other work to tests.
	Hidden []string
	// Seed is a directory that keeps the cache of the base's checks between gates; "" disables it. Code of a
	// candidate never runs on it.
	Seed string
	// Toolchains is a directory with caches of compiled standard libraries, which all repositories share; "" disables it.
	// Code of a repository never runs on it.
	Toolchains string
	// Review is called if nothing else failed. It returns further faults, and must assess every suspicion. If
	// it is nil, suspicions are faults.
	Review func(ctx context.Context, d Report) ([]pawl.GateFault, error)
	// Reruns is how often tests are repeated on the base to find flaky ones; 0 means 5.
	Reruns int
	// OnRun, if not nil, is called after each check run. Runs of the baseline are reported once. An error aborts
	// the gate.
	OnRun func(CheckResult) error
	// OnProgress, if not nil, is called by Prove; see experiment.Config.
	OnProgress func(experiment.Progress)

	checkouts int
	current   *checkout // the tree in the shared directory; nil if it is empty
	base      *baseline // nil before the first run
}

// Outcome is the result of a gate run.
type Outcome struct {
	Criteria   string           `json:"criteria"` // hash of the criteria
	Base       string           `json:"base"`
	Candidate  string           `json:"candidate"`
	Tree       string           `json:"tree"` // tree hash of the candidate
	Runs       []pawl.CheckRun  `json:"runs"`
	Faults     []pawl.GateFault `json:"faults"`
	Suspicions []pawl.GateFault `json:"suspicions,omitempty"` // what a reviewer must assess
	Flaky      []string         `json:"flaky,omitempty"`      // tests that passed and failed on the base, and here
	Before     []string         `json:"before,omitempty"`     // tests that failed on the base too
}

// Passed reports whether the candidate has passed.
func (o Outcome) Passed() bool { return len(o.Faults) == 0 }

// Run verifies a candidate. It returns an error only if the gate itself fails; everything wrong with the
// candidate is in the outcome. The runs of the outcome start with those of the baseline.
func (g *Gate) Run(ctx context.Context, f pawl.Criteria, candidate string) (Outcome, error) {
	o, err := g.begin(ctx, f, candidate)
	if err != nil || !o.Passed() {
		return o, err
	}
	c, err := g.compare(ctx, f, o.Candidate)
	if err != nil {
		return o, err
	}
	var found faults
	c.addTextFaults(&found)
	e, err := g.gather(ctx, f, c, &o)
	if err != nil {
		return o, err
	}
	found = append(found, e.evaluate()...)
	o.Faults, o.Suspicions, o.Before = found, c.suspicious(), e.before()
	return o, g.review(ctx, f, c, e, &o)
}

// begin resolves the commit and verifies that the programs of the checks have not changed.
func (g *Gate) begin(ctx context.Context, f pawl.Criteria, commit string) (Outcome, error) {
	o := Outcome{Criteria: f.Hash(), Base: f.Base}
	var err error
	if o.Candidate, err = g.Repo.Commit(ctx, commit); err != nil {
		return o, err
	}
	var found faults
	if changed := changedTools(f); len(changed) > 0 {
		found.add("tool-changed", changed[0], "program %s has changed since the criteria were set", changed[0])
	}
	o.Faults = found
	return o, nil
}

// review calls Review if no fault was found yet.
func (g *Gate) review(ctx context.Context, f pawl.Criteria, c *comparison, e *evidence, o *Outcome) error {
	if len(o.Faults) > 0 {
		return nil
	}
	if g.Review == nil {
		for _, s := range o.Suspicions {
			o.Faults = append(o.Faults, pawl.GateFault{Rule: "needs-review", Item: s.Item, Text: s.Text + ": needs a review"})
		}
		return nil
	}
	found, err := g.Review(ctx, newReport(f, *o, c, e))
	o.Faults = append(o.Faults, found...)
	return err
}

// gather runs the checks on all trees: the candidate, old tests on new code, new tests on old code. It removes
// each tree as early as possible.
func (g *Gate) gather(ctx context.Context, f pawl.Criteria, c *comparison, o *Outcome) (e *evidence, err error) {
	b, err := g.baseline(ctx, f)
	if err != nil {
		return nil, err
	}
	o.Runs = slices.Clone(b.runs)
	e = newEvidence(f, b)
	e.criteria, e.renamed = f.Criteria, c.renamed()
	now, err := g.newCheckout(ctx, "candidate", c.candidate)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove(now)) }()
	o.Tree = now.tree
	if err := copyCache(now, b.checkout.cache); err != nil {
		return nil, err
	}
	if e.candidate, err = g.all(ctx, now, f.Checks, o); err != nil {
		return nil, err
	}
	tests := slices.DeleteFunc(slices.Clone(f.Checks), func(c pawl.Check) bool { return c.Tests == "" && c.Kind != pawl.CheckSetup })
	if !slices.ContainsFunc(tests, func(c pawl.Check) bool { return c.Tests != "" }) {
		return e, nil
	}
	if e.old, err = g.oldTests(ctx, c, b.checkout.cache, tests, o); err != nil {
		return nil, err
	}
	if e.new, err = g.newTests(ctx, c, now.cache, tests, o); err != nil {
		return nil, err
	}
	return e, g.rerunUncertain(ctx, e, b, now, o)
}

// oldTests runs the base's tests on the candidate's code.
func (g *Gate) oldTests(ctx context.Context, c *comparison, cache string, checks []pawl.Check, o *Outcome) (ran map[string]CheckResult, err error) {
	p, err := g.newCheckout(ctx, "old-tests", mixed(c.candidate, c.base))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove(p)) }()
	if err := copyCache(p, cache); err != nil {
		return nil, err
	}
	return g.all(ctx, p, checks, o)
}

// newTests runs the candidate's tests on the base's code. It uses the candidate's cache, which those tests
// could have changed already.
func (g *Gate) newTests(ctx context.Context, c *comparison, cache string, checks []pawl.Check, o *Outcome) (ran map[string]CheckResult, err error) {
	p, err := g.newCheckout(ctx, "new-tests", mixed(c.base, c.candidate))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove(p)) }()
	p.cache = cache
	return g.all(ctx, p, checks, o)
}

// all runs the checks in order. A failing setup check is an error.
func (g *Gate) all(ctx context.Context, p *checkout, checks []pawl.Check, o *Outcome) (map[string]CheckResult, error) {
	runs := map[string]CheckResult{}
	for _, c := range checks {
		ran, err := g.once(ctx, p, c, o)
		if err != nil {
			return nil, err
		}
		if c.Kind == pawl.CheckSetup && !ran.OK() {
			return nil, fault.New(pawl.ErrUnavailable, "setup check %s failed (%s), so nothing can be checked: %s", c.ID, ran.Ended(), ran.Tail)
		}
		runs[c.ID] = ran
	}
	return runs, nil
}

func (g *Gate) once(ctx context.Context, p *checkout, c pawl.Check, o *Outcome) (CheckResult, error) {
	ran, err := g.run(ctx, p, c)
	if err != nil {
		return ran, err
	}
	o.Runs = append(o.Runs, ran.CheckRun)
	if g.OnRun != nil {
		err = g.OnRun(ran)
	}
	return ran, err
}

// DirName returns a directory name for what is kept about a repository.
func DirName(dir string) string {
	return strings.TrimPrefix(checkrun.Digest([]byte(dir)), "sha256:")[:16]
}

// before returns the tests that fail now and failed on the base.
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
