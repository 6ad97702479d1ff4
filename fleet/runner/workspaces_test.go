package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/checkpoint"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// countingStore is a real checkpoint store that counts its calls.
type countingStore struct {
	checkpoint.Store
	restored atomic.Int32
	broken   func(dir string) error // replaces Restore
}

func (k *countingStore) Save(ctx context.Context, key, dir, from string) (string, int64, error) {
	id, stats, err := k.Store.Save(ctx, key, []checkpoint.Root{{Name: "work", Path: dir}}, from)
	return id, stats.Bytes, err
}

func (k *countingStore) Restore(ctx context.Context, key, dir, id string) error {
	k.restored.Add(1)
	if k.broken != nil {
		return k.broken(dir)
	}
	return k.Store.Restore(ctx, key, id, []checkpoint.Root{{Name: "work", Path: dir}})
}

func (k *countingStore) Prune(ctx context.Context, key, keep string) error {
	return k.Store.Prune(ctx, key, keep)
}

// testHosts creates hosts with a real registry and checkpoint store. All run in this process and share the file system.
type testHosts struct {
	*testing.T
	registry *postgres.Store
	top      string // contains all directories
	dir      string // a workspace
}

func newTestHosts(t *testing.T) *testHosts {
	t.Helper()
	return testHostsOn(t, newRegistry(t))
}

// testHostsOn returns testHosts with a directory of their own.
func testHostsOn(t *testing.T, registry *postgres.Store) *testHosts {
	t.Helper()
	top := t.TempDir()
	return &testHosts{t, registry, top, filepath.Join(top, "work", "_", "one")}
}

func newRegistry(t *testing.T) *postgres.Store {
	t.Helper()
	st, err := postgres.Open(t.Context(), harness.Stores["postgres"](t))
	ok(t, err)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// host returns a host that was just started and has loaded its states.
func (e *testHosts) host(name string) (*Workspaces, *countingStore) {
	e.Helper()
	blobs, err := blob.Open(e.Context(), "file://"+e.top+"/blobs")
	ok(e.T, err)
	k := &countingStore{Store: checkpoint.Store{Blobs: blobs, Dir: filepath.Join(e.top, name, "index")}}
	return &Workspaces{Host: name, Registry: e.registry, Checkpoints: k, Dir: filepath.Join(e.top, name, "states"), Root: filepath.Join(e.top, "work")}, k
}

// place assigns the workspace to a host, unless it has it already.
func (e *testHosts) place(s *Workspaces, others ...*Workspaces) Place {
	e.Helper()
	ok(e.T, s.heartbeat(e.Context(), "test", 10))
	for _, o := range others { // these take no workspaces
		_, err := e.registry.Heartbeat(e.Context(), fleet.Host{Name: o.Host, Draining: true})
		ok(e.T, err)
	}
	w, err := e.registry.Place(e.Context(), e.dir, "")
	ok(e.T, err)
	if w.Host != s.Host {
		e.Fatalf("the workspace is on %s, want %s", w.Host, s.Host)
	}
	return Place{Host: w.Host, Dir: w.Dir, Epoch: w.Epoch}
}

func (e *testHosts) enter(s *Workspaces, p Place) (leave func()) {
	e.Helper()
	leave, err := s.Enter(e.Context(), p)
	ok(e.T, err)
	return leave
}

func (e *testHosts) write(name, text string) {
	e.Helper()
	ok(e.T, os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600))
}

// holds fails unless the workspace holds these files.
func (e *testHosts) holds(want map[string]string) {
	e.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(e.dir)
	ok(e.T, err)
	for _, f := range entries {
		text, err := os.ReadFile(filepath.Join(e.dir, f.Name()))
		ok(e.T, err)
		got[f.Name()] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("the workspace (- want, + got):\n%s", diff)
	}
}

// TestMove: a workspace continues on another host from its checkpoint, and the previous host cannot overwrite
// it.
func TestMove(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	b, kb := e.host("b")
	first := e.place(a)
	leave := e.enter(a, first)
	e.write("f", "one")
	ok(t, a.Save(t.Context(), e.dir))
	e.write("f", "half") // and then the host is lost
	second := e.place(b, a)
	if second.Epoch <= first.Epoch {
		t.Fatalf("epoch %d after %d", second.Epoch, first.Epoch)
	}
	e.enter(b, second)()
	e.holds(map[string]string{"f": "one"})
	if n := kb.restored.Load(); n != 1 {
		t.Errorf("restored %d times, want once", n)
	}

	e.write("f", "of the old host")
	if err := a.Save(t.Context(), e.dir); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("the old host's work was kept: %v", err)
	}
	leave()
	if _, err := b.Enter(t.Context(), first); !errors.Is(err, errMoved) {
		t.Errorf("a step of an old epoch was let in: %v", err)
	}
	if _, err := a.Enter(t.Context(), second); !errors.Is(err, errMoved) {
		t.Errorf("a step to another host was let in: %v", err)
	}
	if err := a.Save(t.Context(), filepath.Join(e.top, "work", "_", "two")); !errors.Is(err, errMoved) {
		t.Errorf("a folder that nobody has entered was kept: %v", err)
	}
}

// TestState: a restarted host knows its workspaces, and trusts nothing else.
func TestState(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	p := e.place(a)
	e.enter(a, p)()
	e.write("f", "kept")
	ok(t, a.Save(t.Context(), e.dir))
	e.write("f", "and changed by what runs on")

	again, k := e.host("a")
	e.enter(again, p)()
	if k.restored.Load() != 0 {
		t.Error("it was restored, though it was here")
	}
	e.holds(map[string]string{"f": "and changed by what runs on"})

	for name, spoil := range map[string]func(path string) error{
		"gone":   os.Remove,
		"broken": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"of another": func(path string) error {
			return os.WriteFile(path, []byte(`{"dir":"/elsewhere","epoch":1}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, spoil(a.statePath("", e.dir)))
			e.write("f", "of nobody knows when")
			again, k := e.host("a")
			e.enter(again, p)()
			if k.restored.Load() != 1 {
				t.Errorf("it was restored %d times, want once", k.restored.Load())
			}
			e.holds(map[string]string{"f": "kept"})
		})
	}
}

// TestBoot: after a reboot the disk may be older than the checkpoint. The workspace is restored when it is
// entered, recalled or evicted.
func TestBoot(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	host := func(boot string) (*Workspaces, *countingStore) {
		s, k := e.host("a")
		s.Boot = boot
		ok(t, s.LoadStates())
		return s, k
	}
	a, _ := host("one")
	p := e.place(a)
	e.enter(a, p)()
	e.write("f", "kept")
	ok(t, a.Save(t.Context(), e.dir))
	boot := "one"
	again := func(after string, use func(a *Workspaces)) {
		t.Helper()
		e.write("f", "lost")
		boot += "+"
		a, k := host(boot)
		use(a)
		if n := k.restored.Load(); n != 1 {
			t.Errorf("%s: restored %d times, want once", after, n)
		}
		e.holds(map[string]string{"f": "kept"})
	}
	enter := func(a *Workspaces) {
		for range 2 {
			e.enter(a, p)()
		}
	}
	again("enter", enter)
	again("recall", func(a *Workspaces) { ok(t, a.Recall(t.Context(), e.dir)) })
	again("remove", func(a *Workspaces) {
		if n, err := a.evictIdle(t.Context(), 0); n != 1 || err != nil {
			t.Errorf("%d removed, %v", n, err)
		}
		p = e.place(a)
		enter(a)
	})
}

// TestBoot_NeverKept: a workspace without a checkpoint is used as it is.
func TestBoot_NeverKept(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, k := e.host("a")
	k.Limits.MaxBytes = 1
	ok(t, e.registry.Declare(t.Context(), e.dir, "https://pawl.test/repo")) // there it is as it began
	p := e.place(a)
	ok(t, os.MkdirAll(e.dir, 0o700))
	e.write("f", "all there is")
	e.enter(a, p)()
	a, k = e.host("a")
	k.Limits.MaxBytes = 1
	a.Boot = "another"
	a.Fetch = func(context.Context, string, string) error { return errOnce }
	ok(t, a.Recall(t.Context(), e.dir))
	e.enter(a, p)()
	e.holds(map[string]string{"f": "all there is"})
}

// TestBeginsAnew: a dropped workspace starts from its source again, also on the host that had it.
func TestBeginsAnew(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	var cleared []string
	a.Clear = func(dir string) error { cleared = append(cleared, dir); return nil }
	e.enter(a, e.place(a))()
	e.write("f", "of the one before")
	ok(t, a.Save(t.Context(), e.dir))
	e.enter(a, e.place(a))()
	e.holds(map[string]string{"f": "of the one before"})
	ok(t, a.Drop(t.Context(), e.dir))
	e.enter(a, e.place(a))()
	e.holds(map[string]string{})
	if !slices.Equal(cleared, []string{e.dir}) {
		t.Errorf("cleared were %q", cleared)
	}
}

// TestHalfRestored: a partial restore is never taken for a complete one, neither by the next step nor after a
// restart.
func TestHalfRestored(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	p := e.place(a)
	e.enter(a, p)()
	e.write("f", "one")
	ok(t, a.Save(t.Context(), e.dir))
	ok(t, os.RemoveAll(e.dir)) // the disk of the workspaces is new, that of the state files is not

	a, k := e.host("a")
	k.broken = func(dir string) error {
		ok(t, os.WriteFile(filepath.Join(dir, "half"), nil, 0o600))
		return errOnce
	}
	for range 2 {
		if _, err := a.Enter(t.Context(), p); !errors.Is(err, errOnce) {
			t.Fatalf("entered what is only half there: %v", err)
		}
	}
	again, _ := e.host("a")
	e.enter(again, p)()
	e.holds(map[string]string{"f": "one"})
}

// TestTwoSessions: two sessions enter a shared workspace at once, and it is restored once.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	e.enter(a, e.place(a))()
	e.write("f", "one")
	ok(t, a.Save(t.Context(), e.dir))
	ok(t, os.RemoveAll(e.dir))
	b, k := e.host("b")
	p := e.place(b, a)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			leave, err := b.Enter(t.Context(), p)
			if err != nil {
				t.Error(err)
				return
			}
			leave()
		})
	}
	group.Wait()
	if n := k.restored.Load(); n != 1 {
		t.Errorf("restored %d times, want once", n)
	}
	e.holds(map[string]string{"f": "one"})
}

// TestTooLarge: a workspace over its limit ends the turn with a message that says what to do, and the turn can
// still be ended.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, k := e.host("a")
	k.Limits.MaxBytes = 10
	p := e.place(a)
	ok(t, os.MkdirAll(e.dir, 0o700))
	e.write("f", strings.Repeat("x", 100)) // too large from the start
	leave := e.enter(a, p)
	err := a.Save(t.Context(), e.dir)
	var stop *agent.Stop
	if !errors.As(err, &stop) || stop.Reason != pawl.ReasonError || !strings.Contains(stop.Message, "delete build output") {
		t.Errorf("it ends with %v", err)
	}
	leave()
	e.enter(a, p)()
	if n, err := a.evictIdle(t.Context(), 0); n != 0 || err == nil {
		t.Errorf("%d were removed that could not be kept, %v", n, err)
	}
	e.holds(map[string]string{"f": strings.Repeat("x", 100)})
}

func TestFullAndDraining(t *testing.T) {
	t.Parallel()
	e := newTestHosts(t)
	a, _ := e.host("a")
	p := e.place(a)
	free := int64(5)
	a.Free, a.Reserve = func() (int64, error) { return free, nil }, 10
	if _, err := a.Enter(t.Context(), p); !errors.Is(err, errFull) || !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("a full host took work: %v", err)
	}
	ok(t, a.heartbeat(t.Context(), "test", 10))
	if _, err := e.registry.Place(t.Context(), e.dir, ""); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("work was given to a full host: %v", err)
	}
	free = 50
	leave := e.enter(a, p)
	a.Drain()
	if !a.Draining() {
		t.Error("it does not want to be left")
	}
	if busy, kept := a.Count(); busy != 1 || kept != 1 {
		t.Errorf("%d busy, %d kept", busy, kept)
	}
	short, cancel := context.WithCancelCause(t.Context())
	cancel(errOnce)
	if err := a.WaitIdle(short); !errors.Is(err, errOnce) {
		t.Errorf("a host at work is empty: %v", err)
	}
	leave()
	ok(t, a.WaitIdle(t.Context()))
	ok(t, a.heartbeat(t.Context(), "test", 10))
	if _, err := e.registry.Place(t.Context(), e.dir, ""); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("work was given to a host that leaves: %v", err)
	}
}
