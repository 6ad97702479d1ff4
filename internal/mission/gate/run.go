package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// run runs a check on a tree, in a sandbox.
func (g *Gate) run(ctx context.Context, p *checkout, c pawl.Check) (CheckResult, error) {
	if err := g.activate(p); err != nil {
		return CheckResult{}, fmt.Errorf("check %s: %w", c.ID, err)
	}
	work := filepath.Join(p.dir, c.Dir)
	ran := CheckResult{CheckRun: pawl.CheckRun{Check: c.ID, On: p.on, Tree: p.tree, Args: c.Args}}
	if err := inventory.RemoveReports(c, work); err != nil { // an existing report is not from this run
		return ran, fmt.Errorf("check %s: remove old test reports: %w", c.ID, err)
	}
	env := append([]string{"CI=true", "XDG_CACHE_HOME=" + p.cache, "GOFLAGS=", "TERM=dumb", "NO_COLOR=1", "LC_ALL=C.UTF-8"}, c.Env...)
	wrapped, err := g.Sandbox(ctx, c.Args, sandbox.Profile{Dir: p.dir, Work: work, Env: env, Hidden: g.Hidden, Writable: []string{p.cache}}, c.Network)
	if err != nil {
		return ran, fmt.Errorf("check %s: %w", c.ID, err)
	}
	defer wrapped.Close()
	ran.Env = envHash(wrapped.Env, p)
	err = ran.Execute(ctx, wrapped, c, checkrun.Place{Start: work, Written: work, Shown: work, Combined: inventory.Combined(c.Tests)})
	return ran, err
}

// Summary describes the result of a check in a few words.
func Summary(r pawl.CheckRun) string {
	if r.Tests == nil {
		return result(r)
	}
	return result(r) + ", " + tests(r.Tests)
}

// envHash hashes an environment, with the paths that differ in each run replaced.
func envHash(env []string, p *checkout) string {
	lines := slices.Clone(env)
	for i, line := range lines {
		line = strings.ReplaceAll(line, p.dir, "TREE")
		lines[i] = strings.ReplaceAll(line, p.cache, "CACHE")
	}
	slices.Sort(lines)
	return checkrun.Digest([]byte(strings.Join(lines, "\x00")))
}
