package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// Proof is what experiments tell about a candidate.
type Proof struct {
	Criteria  string `json:"criteria"` // hash of the criteria
	Base      string `json:"base"`
	Candidate string `json:"candidate"`
	experiment.Result
}

// Prove verifies a candidate by experiments; see package experiment. Mutants are tried until the budget is spent.
func (g *Gate) Prove(ctx context.Context, f pawl.Criteria, candidate string, budget time.Duration, onRun func(pawl.CheckRun)) (p Proof, err error) {
	p = Proof{Criteria: f.Hash(), Base: f.Base}
	if p.Candidate, err = g.Repo.Commit(ctx, candidate); err != nil {
		return p, err
	}
	if changed := changedTools(f); len(changed) > 0 {
		return p, fault.New(pawl.ErrUnavailable, "program %s has changed since the criteria were set", changed[0])
	}
	dir := filepath.Join(g.Dir, "experiments")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return p, err
	}
	c := experiment.Config{
		Repo: g.Repo, Base: f.Base, Head: p.Candidate, Checks: f.Checks, Dir: dir, Sandbox: g.Sandbox, Hidden: g.Hidden, Budget: budget, OnRun: onRun, OnProgress: g.OnProgress,
		Approved: func(test string) bool { return testApproved(f.Approval, test) },
	}
	if g.Views != nil {
		if c.Views, err = g.Views(ctx); err != nil {
			return p, err
		}
	}
	if err := g.addToolchain(ctx, f.Checks); err != nil {
		return p, err
	}
	err = g.useSeed(ctx, func(seed string) error {
		c.Seed = seed
		p.Result, err = experiment.Do(ctx, c)
		return err
	})
	if err == nil {
		err = g.addToSeed(ctx, filepath.Join(dir, "kept"))
	}
	return p, errors.Join(err, removeAll(dir))
}

// useSeed calls do with the cache that is kept between gates, which nobody changes meanwhile, or with "".
func (g *Gate) useSeed(ctx context.Context, do func(seed string) error) error {
	if g.Seed == "" {
		return do("")
	}
	seed := filepath.Join(g.Seed, "cache")
	if err := os.MkdirAll(seed, 0o700); err != nil {
		return err
	}
	lock, err := lockSeed(ctx, g.Seed, unix.LOCK_SH)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // releases the lock
	return do(seed)
}

// addToSeed adds what the checks of the base wrote to the cache that is kept between gates, unless another gate uses it.
func (g *Gate) addToSeed(ctx context.Context, kept string) error {
	if g.Seed == "" {
		return nil
	}
	now, cancel := context.WithTimeout(ctx, 10*seedPoll)
	defer cancel()
	lock, err := lockSeed(now, g.Seed, unix.LOCK_EX)
	if err != nil {
		return context.Cause(ctx) // the next gate adds it
	}
	defer func() { _ = lock.Close() }() // releases the lock
	seed := filepath.Join(g.Seed, "cache")
	size, err := dirSize(seed)
	if err == nil && size > maxSeed {
		err = removeAll(seed)
	}
	return errors.Join(err, copyInto(seed, kept))
}

// Has reports whether the proof has findings of a kind.
func (p Proof) Has(k experiment.Kind) bool {
	return slices.ContainsFunc(p.Findings, func(f experiment.Finding) bool { return f.Kind == k })
}
