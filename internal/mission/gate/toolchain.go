package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// toolchainTime bounds how long the standard library may take to compile. toolchainAge is after how long without use a
// toolchain's cache is deleted.
const (
	toolchainTime = 10 * time.Minute
	toolchainAge  = 30 * 24 * time.Hour
)

// goModule is a module of our own whose build, vet and test fill a cache with what every project with tests needs of Go's
// standard library, so that the first gate of all does not compile more than it needs. Code of a repository never writes to
// this cache: a poisoned build cache would let one project forge the results of another.
var goModule = map[string]string{
	"go.mod":       "module warm\n\ngo 1.21\n",
	"warm.go":      "// Package warm imports what most projects use.\npackage warm\n\nimport (\n\t_ \"context\"\n\t_ \"encoding/json\"\n\t_ \"fmt\"\n\t_ \"regexp\"\n)\n",
	"warm_test.go": "package warm\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n",
}

// goRuns are the checks of a Go project, as package discover finds them.
var goRuns = [][]string{{"build", "./..."}, {"vet", "./..."}, {"test", "./..."}}

// addToolchain adds the compiled standard library to the cache that is kept between gates, if a check runs go and it is not
// there yet. The first gate of all compiles it for all repositories. A toolchain that does not work is left to the checks.
func (g *Gate) addToolchain(ctx context.Context, checks []pawl.Check) error {
	i := slices.IndexFunc(checks, func(c pawl.Check) bool { return filepath.Base(c.Args[0]) == "go" })
	if g.Toolchains == "" || g.Seed == "" || i < 0 {
		return nil
	}
	w := toolchain{gate: g, program: checks[i].Args[0], dir: filepath.Join(g.Dir, "toolchain")}
	defer func() { _ = removeAll(w.dir) }() // Close removes it too
	key, err := w.prepare(ctx)
	if err != nil || key == "" {
		return err
	}
	mark := filepath.Join(g.Seed, "cache", "."+key)
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	lock, err := lockSeed(ctx, g.Toolchains, unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // releases the lock
	kept := filepath.Join(g.Toolchains, key)
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if ok, err := w.compile(ctx, kept); err != nil || !ok {
			return err
		}
	}
	now := time.Now()
	if err := errors.Join(os.Chtimes(kept, now, now), dropOld(g.Toolchains, now.Add(-toolchainAge))); err != nil {
		return err
	}
	return g.withSeed(ctx, unix.LOCK_EX, func() error {
		// Copies, not links: what can write to the cache of a repository must not write to that of all.
		if err := copyInto(filepath.Join(g.Seed, "cache"), kept); err != nil {
			return err
		}
		return os.WriteFile(mark, nil, 0o600)
	})
}

// toolchain compiles the standard library of a Go toolchain.
type toolchain struct {
	gate    *Gate
	program string
	dir     string // with the module and its cache
}

// prepare writes the module. It returns a name for the toolchain and its settings, or "" if it does not work.
func (w toolchain) prepare(ctx context.Context) (key string, err error) {
	for name, text := range goModule {
		path := filepath.Join(w.dir, "module", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return "", err
		}
	}
	var said strings.Builder
	for _, args := range [][]string{{"version"}, {"env", "GOROOT", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "CGO_ENABLED", "CC", "CGO_CFLAGS"}} {
		r, err := w.run(ctx, args)
		if err != nil || !r.OK() {
			return "", err
		}
		said.WriteString(r.Printed + "\n")
	}
	return "go-" + strings.TrimPrefix(checkrun.Digest([]byte(said.String())), "sha256:")[:16], nil
}

// compile fills a new directory with the cache of the module's checks. It reports whether they work.
func (w toolchain) compile(ctx context.Context, kept string) (bool, error) {
	if w.gate.OnProgress != nil {
		w.gate.OnProgress(experiment.Progress{Stage: "compiling Go's standard library, once for all repositories"})
	}
	for _, args := range goRuns {
		if r, err := w.run(ctx, args); err != nil || !r.OK() {
			return false, err
		}
	}
	fresh := kept + ".new"
	if err := errors.Join(removeAll(fresh), copyInto(fresh, filepath.Join(w.dir, "cache"))); err != nil {
		return false, err
	}
	return true, os.Rename(fresh, kept)
}

// run runs go on the module, in the sandbox.
func (w toolchain) run(ctx context.Context, args []string) (r checkrun.Result, err error) {
	module, cache := filepath.Join(w.dir, "module"), filepath.Join(w.dir, "cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return r, err
	}
	c := pawl.Check{ID: "toolchain", Args: append([]string{w.program}, args...), Timeout: toolchainTime}
	p := sandbox.Profile{Dir: module, Work: module, Hidden: w.gate.Hidden, CacheHome: cache, Env: []string{"GOFLAGS=", "LC_ALL=C.UTF-8", "CI=true"}}
	wrapped, err := w.gate.Sandbox(ctx, c.Args, p, nil)
	if err != nil {
		return r, fmt.Errorf("compile the standard library: %w", err)
	}
	defer wrapped.Close()
	return r, r.Execute(ctx, wrapped, c, checkrun.Place{Start: module, Written: module, Shown: module})
}

// dropOld deletes the caches of toolchains that were last used before a time.
func dropOld(dir string, before time.Time) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if info, statErr := e.Info(); statErr == nil && e.IsDir() && info.ModTime().Before(before) {
			err = errors.Join(err, removeAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
