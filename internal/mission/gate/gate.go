// Package gate verifies a change: it runs the project's checks itself, in a sandbox on clean checkouts, and finds out by
// experiments whether they would notice mistakes. What a model claims about the change does not count.
package gate

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Gate runs checks on commits of a repository. It is not safe for concurrent use, but several gates may share a
// repository and a Seed, also between processes.
type Gate struct {
	Repo *git.Repo
	Dir  string    // for trees and caches of this gate only; Close removes it
	Lock io.Closer // of Dir, if not nil; see [TempDir]
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
	// OnProgress, if not nil, is called by Prove; see experiment.Config.
	OnProgress func(experiment.Progress)

	base *baseline // nil before the first Baseline
}

// baseline holds the results of the checks on the base.
type baseline struct {
	criteria string // hash of the criteria
	experiment.Result
}

// Close removes the trees.
func (g *Gate) Close() error {
	err := removeAll(g.Dir)
	if g.Lock != nil {
		err = errors.Join(err, g.Lock.Close())
	}
	return err
}

// Prove verifies a candidate by experiments; see package experiment. Mutants are tried until the budget is spent.
func (g *Gate) Prove(ctx context.Context, f pawl.Criteria, candidate string, budget time.Duration, onRun func(pawl.CheckRun)) (Proof, error) {
	p := Proof{Criteria: f.Hash(), Base: f.Base}
	commit, err := g.Repo.Commit(ctx, candidate)
	if err != nil {
		return p, err
	}
	p.Candidate = commit
	p.Result, err = g.experiment(ctx, f, experiment.Do, experiment.Config{Head: commit, Budget: budget, OnRun: onRun, OnProgress: g.OnProgress})
	return p, err
}

// Baseline runs the checks on the base, unless that was done already, and returns the runs. A gate keeps one baseline, by
// the hash of the criteria.
func (g *Gate) Baseline(ctx context.Context, f pawl.Criteria, onRun func(pawl.CheckRun)) ([]pawl.CheckRun, error) {
	if g.base == nil || g.base.criteria != f.Hash() {
		r, err := g.experiment(ctx, f, experiment.Baseline, experiment.Config{OnRun: onRun})
		if err != nil {
			return nil, err
		}
		g.base = &baseline{f.Hash(), r}
	}
	return g.base.Runs, nil
}

// Check decides quickly whether a commit is as good as the base, for the merge queue: it runs the checks once. The rest is
// left to Prove.
func (g *Gate) Check(ctx context.Context, f pawl.Criteria, commit string, onRun func(pawl.CheckRun)) ([]pawl.GateFault, error) {
	if _, err := g.Baseline(ctx, f, onRun); err != nil {
		return nil, err
	}
	r, err := g.experiment(ctx, f, experiment.Compare, experiment.Config{Head: commit, Known: g.base.OnBase, OnRun: onRun})
	return faultsOf(r.Findings, experiment.Failure), err
}

// experiment runs experiments with the checks of the criteria.
func (g *Gate) experiment(ctx context.Context, f pawl.Criteria, do func(context.Context, experiment.Config) (experiment.Result, error), c experiment.Config) (r experiment.Result, err error) {
	if changed := changedTools(f); len(changed) > 0 {
		return r, fault.New(pawl.ErrUnavailable, "program %s has changed since the criteria were set", changed[0]).Hint("Restore it, or set the criteria again.")
	}
	c.Repo, c.Base, c.Checks, c.Sandbox, c.Hidden = g.Repo, f.Base, f.Checks, g.Sandbox, g.Hidden
	c.Goal = len(f.Criteria) > 0
	c.Approved = func(test string) bool { return testApproved(f.Approval, test) }
	if g.Views != nil {
		if c.Views, err = g.Views(ctx); err != nil {
			return r, err
		}
	}
	dir, err := filepath.EvalSymlinks(g.Dir) // a view shows no directory behind a link
	if err != nil {
		return r, err
	}
	c.Dir = filepath.Join(dir, "experiments")
	if err := errors.Join(removeAll(c.Dir), os.Mkdir(c.Dir, 0o700)); err != nil { // a gate that was killed may have left it
		return r, err
	}
	if err := g.addToolchain(ctx, f.Checks); err != nil {
		return r, err
	}
	err = g.useSeed(ctx, func(seed string) error {
		c.Seed = seed
		r, err = do(ctx, c)
		return err
	})
	if err == nil {
		err = g.addToSeed(ctx, filepath.Join(c.Dir, "kept"))
	}
	return r, errors.Join(err, removeAll(c.Dir))
}

// DirName returns a directory name for what is kept about a repository.
func DirName(dir string) string {
	return strings.TrimPrefix(checkrun.Digest([]byte(dir)), "sha256:")[:16]
}

// removeAll deletes a directory, if it exists. Some tools protect their caches.
func removeAll(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a directory of our own
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(dir))
}
