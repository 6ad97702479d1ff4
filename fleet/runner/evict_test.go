package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/store"
)

func TestEvict(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, k := e.host("a")
	leave := e.enter(a, e.place(a))
	e.write("f", "one") // not saved yet
	evicted := func(after time.Duration, want int) {
		t.Helper()
		if n, err := a.evictIdle(t.Context(), after); n != want || err != nil {
			t.Errorf("%d were removed, %v; want %d", n, err, want)
		}
	}
	evicted(0, 0) // it is in use
	leave()
	evicted(time.Hour, 0) // it was in use just now
	evicted(0, 1)
	if _, err := os.Stat(e.dir); !os.IsNotExist(err) {
		t.Error("the folder is still there")
	}
	if _, err := os.Stat(a.statePath("", e.dir)); !os.IsNotExist(err) {
		t.Error("the state file is still there")
	}
	if row, err := e.registry.Workspace(t.Context(), e.dir); err != nil || row.Host != "" {
		t.Errorf("the registry has it on %q, %v", row.Host, err)
	}
	e.enter(a, e.place(a))()
	e.holds(map[string]string{"f": "one"})
	if k.restored.Load() != 1 {
		t.Errorf("restored %d times", k.restored.Load())
	}
}

// TestEvictAfterRestart: a restarted host removes workspaces that are never entered again.
func TestEvictAfterRestart(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	e.enter(a, e.place(a))()
	e.write("f", "one")
	ok(t, a.Save(t.Context(), e.dir))
	ok(t, os.WriteFile(filepath.Join(a.Dir, "other.json"), []byte(`{"dir":"/","epoch":1}`), 0o600))
	a, _ = e.host("a")
	ok(t, a.LoadStates())
	if _, kept := a.Count(); kept != 1 {
		t.Errorf("%d workspaces are known", kept)
	}
	if n, err := a.evictIdle(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("%d were removed that were worked in just now, %v", n, err)
	}
	if n, err := a.evictIdle(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
	if _, err := os.Stat(e.dir); !os.IsNotExist(err) {
		t.Error("the folder is still there")
	}
	b, _ := e.host("b")
	ok(t, b.LoadStates()) // there are no states to load
}

// TestEvictLate: a workspace that is entered after it was found idle stays.
func TestEvictLate(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	p := e.place(a)
	e.enter(a, p)()
	idle := a.idle(0)
	leave := e.enter(a, p)
	defer leave()
	e.write("f", "at work")
	ok(t, a.evict(t.Context(), e.dir, idle[e.dir]))
	e.holds(map[string]string{"f": "at work"})
}

// TestEvictOld: a workspace assigned to another host is removed without saving it, which would overwrite the
// other host's checkpoint.
func TestEvictOld(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	b, _ := e.host("b")
	e.enter(a, e.place(a))()
	e.write("f", "one")
	ok(t, a.Save(t.Context(), e.dir))
	e.enter(b, e.place(b, a))()
	e.write("f", "of the old host")
	if n, err := a.evictIdle(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
	row, err := e.registry.Workspace(t.Context(), e.dir)
	ok(t, err)
	if row.Host != "b" {
		t.Errorf("it is on %q now", row.Host)
	}
	b, _ = e.host("b") // all hosts share the directory, which was removed
	e.enter(b, Place{Host: "b", Dir: e.dir, Epoch: row.Epoch})()
	e.holds(map[string]string{"f": "one"})
}

// deaf is a registry that is unavailable.
type deaf struct{ fleet.HostRegistry }

func (deaf) Workspace(context.Context, string) (fleet.Workspace, error) {
	return fleet.Workspace{}, pawl.ErrUnavailable
}

// TestEvictBlind: without the registry nothing is removed.
func TestEvictBlind(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	e.enter(a, e.place(a))()
	e.write("f", "one")
	a.Registry = deaf{e.registry}
	if n, err := a.evictIdle(t.Context(), 0); n != 0 || !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("%d were removed, %v", n, err)
	}
	e.holds(map[string]string{"f": "one"})
}

// reach has a tenant name a directory as its workspace, and returns whether Enter accepted it and whether
// eviction then removed files of others.
func reach(e *testHosts, name func(e *testHosts) string) (in, lost bool) {
	e.Helper()
	t := e.T
	theirs := filepath.Join(e.top, "work", "other", "w", "f")
	ok(t, os.MkdirAll(filepath.Dir(theirs), 0o700))
	ok(t, os.WriteFile(theirs, []byte("theirs"), 0o600))
	ok(t, os.MkdirAll(filepath.Join(e.top, "work", "acme", "mine"), 0o700))
	a, _ := e.host("a")
	a.Own = filepath.Join(e.top, "own")
	ok(t, a.heartbeat(t.Context(), "test", 10))
	ctx := store.WithTenant(t.Context(), "acme")
	e.dir = name(e)
	p := Place{Host: "a", Dir: e.dir, Epoch: 1}
	if w, err := e.registry.Place(ctx, e.dir, ""); err == nil {
		p.Epoch = w.Epoch
	}
	leave, err := a.Enter(ctx, p)
	if err == nil {
		leave()
	} else if !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("refused, but for another reason: %v", err)
	}
	_, _ = a.evictIdle(t.Context(), 0)
	_, missing := os.Stat(theirs)
	return err == nil, missing != nil
}

// outside lists directories that are not workspaces of the tenant.
var outside = map[string]func(e *testHosts) string{
	"the root":           func(e *testHosts) string { return filepath.Join(e.top, "work") },
	"above it":           func(e *testHosts) string { return e.top },
	"another's folder":   func(e *testHosts) string { return filepath.Join(e.top, "work", "other") },
	"another's":          func(e *testHosts) string { return filepath.Join(e.top, "work", "other", "w") },
	"its own folder":     func(e *testHosts) string { return filepath.Join(e.top, "work", "acme") },
	"within one":         func(e *testHosts) string { return filepath.Join(e.top, "work", "acme", "mine", "sub") },
	"by dots":            func(e *testHosts) string { return filepath.Join(e.top, "work") + "/acme/../other" },
	"dots at the end":    func(e *testHosts) string { return filepath.Join(e.top, "work") + "/acme/.." },
	"pawl's own, above":  func(e *testHosts) string { return filepath.Join(e.top, "own", "repo") },
	"a name that begins": func(e *testHosts) string { return filepath.Join(e.top, "work-more", "acme", "x") },
	"by a link in one": func(e *testHosts) string {
		link := filepath.Join(e.top, "work", "acme", "mine", "link")
		ok(e.T, os.Symlink(filepath.Join(e.top, "work", "other"), link))
		return filepath.Join(link, "w")
	},
	"a link": func(e *testHosts) string {
		link := filepath.Join(e.top, "work", "acme", "link")
		ok(e.T, os.Symlink(filepath.Join(e.top, "work", "other"), link))
		return link
	},
}

func TestOutside(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	for name, dir := range outside {
		t.Run(name, func(t *testing.T) {
			if in, lost := reach(testHostsOn(t, registry), dir); in || lost {
				t.Errorf("it got in: %v; what is another's is gone: %v", in, lost)
			}
		})
	}
	for name, dir := range map[string]func(e *testHosts) string{
		"its own":    func(e *testHosts) string { return filepath.Join(e.top, "work", "acme", "new") },
		"a worker's": func(e *testHosts) string { return filepath.Join(e.top, "own", "repo", "w1") },
	} {
		t.Run(name, func(t *testing.T) {
			if in, lost := reach(testHostsOn(t, registry), dir); !in || lost {
				t.Errorf("it got in: %v; what is another's is gone: %v", in, lost)
			}
		})
	}
}

// TestLinksInside: links that lead out of a workspace are saved and removed as links, and their targets stay unchanged.
func TestLinksInside(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	outside := filepath.Join(e.top, "outside")
	ok(t, os.MkdirAll(outside, 0o700))
	ok(t, os.WriteFile(filepath.Join(outside, "f"), []byte("theirs"), 0o600))
	a, _ := e.host("a")
	e.enter(a, e.place(a))()
	ok(t, os.Mkdir(filepath.Join(e.dir, "d"), 0o700))
	ok(t, os.WriteFile(filepath.Join(e.dir, "d", "f"), []byte("mine"), 0o600))
	ok(t, a.Save(t.Context(), e.dir))
	ok(t, os.RemoveAll(filepath.Join(e.dir, "d")))
	ok(t, os.Symlink(outside, filepath.Join(e.dir, "d"))) // a restore would write through it

	b, _ := e.host("b")
	e.enter(b, e.place(b, a))()
	if info, err := os.Lstat(filepath.Join(e.dir, "d")); err != nil || !info.IsDir() {
		t.Errorf("the folder was not restored: %v", err)
	}
	ok(t, os.Symlink(outside, filepath.Join(e.dir, "out")))
	if n, err := b.evictIdle(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
	text, err := os.ReadFile(filepath.Join(outside, "f"))
	if err != nil || string(text) != "theirs" {
		t.Errorf("what is outside is %q, %v", text, err)
	}
}
