package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// result is what a check says about a variant.
type result = checkrun.Result

// runCheck runs a check on a variant.
func (x *experiments) runCheck(ctx context.Context, v *variant, c pawl.Check) (r result, err error) {
	if err := x.slots.Acquire(ctx, 1); err != nil {
		return r, err
	}
	defer x.slots.Release(1)
	defer x.started(c.ID + " on " + v.on)()
	m, err := x.mount(v)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.ID, err)
	}
	defer m.close()
	p := m.profile
	if err := os.MkdirAll(filepath.Join(p.Dir, c.Dir), 0o700); err != nil { // the view hides it, but the sandbox looks for it
		return r, err
	}
	p.Work, p.Env = filepath.Join(p.Dir, c.Dir), environment(v, p.CacheHome, c)
	r.CheckRun = pawl.CheckRun{Check: c.ID, On: v.on, Tree: v.of.tree, Args: c.Args, Env: checkrun.Digest([]byte(strings.Join(c.Env, "\x00")))}
	if err := x.execute(ctx, &r, m, p, c); err != nil {
		return r, err
	}
	x.ran(r)
	if v.twice && r.OK() {
		if err := m.renew(); err != nil {
			return r, err
		}
		if err := x.execute(ctx, &r, m, p, c); err != nil {
			return r, err
		}
		x.ran(r)
	}
	return r, nil
}

// execute runs a check in a sandbox.
func (x *experiments) execute(ctx context.Context, r *result, m *mounted, p sandbox.Profile, c pawl.Check) error {
	w, err := x.Sandbox(ctx, c.Args, p, c.Network)
	if err != nil {
		return fmt.Errorf("check %s: %w", c.ID, err)
	}
	defer w.Close()
	return r.Execute(ctx, w, c, checkrun.Place{
		Start: m.own, Written: filepath.Join(m.written, c.Dir), Shown: p.Work, Combined: c.Tests == "unittest", // it reports on standard error
	})
}

// environment returns the variables of a check.
func environment(v *variant, cache string, c pawl.Check) []string {
	env := []string{"GOFLAGS=", "TERM=dumb", "NO_COLOR=1", "LC_ALL=C.UTF-8", "TZ=UTC", "CI=true", "CARGO_TARGET_DIR=" + filepath.Join(cache, "cargo-target")}
	if v.moved {
		env = []string{"GOFLAGS=", "TERM=xterm", "LC_ALL=C", "TZ=Asia/Kolkata", "USER=someone", "LOGNAME=someone", "CARGO_TARGET_DIR=" + filepath.Join(cache, "cargo-target")}
	}
	return append(env, c.Env...)
}

// runAll runs checks on a variant, one after the other. A setup that fails is an error: nothing can be said about the
// change.
func (x *experiments) runAll(ctx context.Context, v *variant, checks []pawl.Check) (map[string]result, error) {
	all := map[string]result{}
	for _, c := range checks {
		r, err := x.runCheck(ctx, v, c)
		if err != nil {
			return nil, err
		}
		all[c.ID] = r
	}
	return all, nil
}

// ErrSetup means that a setup check failed.
var ErrSetup = errors.New("nothing can be checked")

// setUp runs the setup checks of a side in its own directory, for all variants of it.
func (x *experiments) setUp(ctx context.Context, s *side) error {
	for _, c := range x.Checks {
		if c.Kind != pawl.CheckSetup {
			continue
		}
		own := filepath.Join(x.Dir, "runs", "setup-"+s.name+"-"+c.ID)
		p := sandbox.Profile{Dir: s.dir, Work: filepath.Join(s.dir, c.Dir), Hidden: x.Hidden, CacheHome: x.cache, Env: environment(&variant{}, x.cache, c)}
		if x.Views {
			cache, err := x.cacheView(own)
			if err != nil {
				return err
			}
			p.Caches = []sandbox.View{cache}
		}
		r := result{CheckRun: pawl.CheckRun{Check: c.ID, On: s.name, Tree: s.tree, Args: c.Args}}
		ended := x.started(c.ID + " on " + s.name)
		err := x.execute(ctx, &r, &mounted{own: s.dir, written: s.dir, profile: p}, p, c)
		ended()
		tree.RemoveAll(own)
		if err != nil {
			return err
		}
		x.ran(r)
		if !r.OK() {
			return fault.New(pawl.ErrUnavailable, "setup check %s failed on the %s (%s), so %w:\n%s", c.ID, s.name, r.Ended(), ErrSetup, r.Tail)
		}
	}
	return nil
}
