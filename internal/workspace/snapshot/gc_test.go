package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// clock is a manual clock.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

// owned returns an env in which alice took a snapshot of a big file, and bob took one
// of a small file an hour later, when the big file was deleted.
func owned(t *testing.T) (w *env, big, small ID, c *clock) {
	t.Helper()
	c = &clock{time.Now().Add(-2 * time.Hour)}
	w = newEnvWith(t, Config{Clock: c.read})
	w.sh("echo small >small; head -c 300000 /dev/urandom >big")
	big = w.take()
	c.now = c.now.Add(time.Hour)
	w.sh("rm big")
	small, err := w.store.Take(t.Context(), w.dir, bob)
	if err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Hour)
	return w, big, small, c
}

// TestGC: snapshots of sessions that no longer exist, are old or exceed the quota are
// removed and their space is freed; the others stay.
func TestGC(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		gc  GC
		why string
	}{
		"gone":  {GC{Alive: func(id pawl.SessionID) bool { return id == bob }}, whyRemoved},
		"old":   {GC{OlderThan: 90 * time.Minute}, whyOld},
		"quota": {GC{Quota: 100_000}, whyQuota},
	} {
		t.Run(name, func(t *testing.T) {
			w, big, small, _ := owned(t)
			dry := tt.gc
			dry.DryRun = true
			before, err := w.store.GC(t.Context(), dry)
			if err != nil || before.Before < 300_000 || !slices.Contains(before.Folders[0].Removed, Removal{alice, tt.why}) {
				t.Errorf("%+v, %v", before, err)
			}
			if _, err := w.store.Changes(t.Context(), w.dir, big, small); err != nil {
				t.Errorf("after a dry run: %v", err)
			}
			r, err := w.store.GC(t.Context(), tt.gc)
			if err != nil || r.Before < 300_000 || r.After > 100_000 || len(r.Folders) != 1 || r.Folders[0].Dir != w.dir {
				t.Fatalf("%+v, %v", r, err)
			}
			if diff := cmp.Diff([]Removal{{alice, tt.why}}, r.Folders[0].Removed); diff != "" {
				t.Error(diff)
			}
			var lost *LostError
			if _, err := w.store.Changes(t.Context(), w.dir, big, small); !errors.As(err, &lost) || lost.ID != big || !errors.Is(err, ErrLost) {
				t.Errorf("the removed one: %v", err)
			}
			if _, err := w.store.Plan(t.Context(), w.dir, []Span{{Before: big, After: small}}, false); !errors.Is(err, ErrLost) {
				t.Errorf("the removed one: %v", err)
			}
			w.sh("echo 2 >small")
			w.undo(Refuse, Span{Before: small, After: w.take()})
			if got := w.read("small"); got != "small\n" {
				t.Errorf("the kept one: %q", got)
			}
			again, err := w.store.GC(t.Context(), tt.gc)
			if err != nil || len(again.Folders) != 1 || again.Folders[0].Why != "" {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// TestGCAll: without any session the directory's store is removed, and can be created
// again. Files kept aside stay until they are old.
func TestGCAll(t *testing.T) {
	t.Parallel()
	w, big, small, c := owned(t)
	w.sh("echo mine >big")
	if r := w.undo(KeepAside, Span{Before: big, After: small}); len(r.Aside) != 1 {
		t.Errorf("%+v", r)
	}
	nobody := func(pawl.SessionID) bool { return false }
	r, err := w.store.GC(t.Context(), GC{Alive: nobody})
	if err != nil || r.After > 0 || r.Folders[0].Why != whyNobody {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := w.store.Plan(t.Context(), w.dir, []Span{{Before: big, After: small}}, false); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	all := showDir(t, w.store.Dir)
	if !slices.ContainsFunc(slices.Collect(valuesOf(all)), func(text string) bool { return text == "-rw------- mine\n" }) {
		t.Errorf("what was kept aside is gone: %v", all)
	}
	c.now = c.now.Add(100 * time.Hour)
	if _, err := w.store.GC(t.Context(), GC{Alive: nobody, OlderThan: time.Hour}); err != nil {
		t.Error(err)
	}
	if all := showDir(t, w.store.Dir); len(all) > 0 {
		t.Errorf("left: %v", all)
	}
	if w.take() == "" {
		t.Error("no snapshot")
	}
}

func valuesOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// TestOwners: a fork keeps the snapshots of its original, and forgetting one session
// does not affect the other.
func TestOwners(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh("echo 1 >f")
	s := w.span("echo 2 >f")
	if err := w.store.Adopt(t.Context(), w.dir, alice, bob); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.store.Forget(t.Context(), alice), w.store.Forget(t.Context(), alice)); err != nil {
		t.Fatal(err)
	}
	if owners, err := w.store.Owners(t.Context()); err != nil || !slices.Equal(owners, []pawl.SessionID{bob}) {
		t.Errorf("%v, %v", owners, err)
	}
	if _, err := w.store.GC(t.Context(), GC{}); err != nil {
		t.Fatal(err)
	}
	w.undo(Refuse, s)
	if got := w.read("f"); got != "1\n" {
		t.Error(got)
	}
	if err := w.store.Adopt(t.Context(), t.TempDir(), alice, bob); err != nil {
		t.Errorf("a folder without snapshots: %v", err)
	}
	for _, bad := range []pawl.SessionID{"", "../x", "01hzzz"} {
		_, err := w.store.Take(t.Context(), w.dir, bad)
		for _, err := range []error{err, w.store.Forget(t.Context(), bad), w.store.Adopt(t.Context(), w.dir, alice, bad)} {
			if !errors.Is(err, pawl.ErrInvalid) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
}

// TestBroken: a damaged store is repaired where that loses nothing, or reports an
// error; GC removes it.
func TestBroken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage string // a shell command in the directory's store
		lost   bool
	}{
		"no table":          {"rm table", false},
		"garbage table":     {"head -c 500 /dev/urandom >table", false},
		"cut table":         {"head -c 200 table >t; mv t table", false},
		"table of another":  {"rm repo/refs/now", false},
		"no refs":           {"rm -r repo/refs/pawl", false},
		"no object":         {"find repo/objects -type f -delete", true},
		"garbage in object": {"for f in $(find repo/objects -type f); do chmod 600 $f; echo garbage >$f; done", true},
		"no repository":     {"rm -r repo", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.sh("mkdir d; echo 1 >d/f; echo 1 >g")
			s := w.span("echo 2 >d/f")
			entries, err := os.ReadDir(w.store.Dir)
			if err != nil {
				t.Fatal(err)
			}
			w.sh("cd " + filepath.Join(w.store.Dir, entries[0].Name()) + "; " + tt.damage)
			_, err = w.store.Plan(t.Context(), w.dir, []Span{s}, false)
			var broken *Broken
			switch {
			case !tt.lost && err != nil:
				t.Error(err)
			case tt.lost && !errors.Is(err, ErrLost) && (!errors.As(err, &broken) || !strings.Contains(err.Error(), "pawl gc")):
				t.Errorf("it says %v", err)
			}
			if tt.lost {
				if _, err := w.store.GC(t.Context(), GC{}); err != nil {
					t.Error(err)
				}
			}
			w.undo(Refuse, w.span("rm -r d; echo 3 >g"))
			if got := w.read("d/f") + w.read("g"); got != "2\n1\n" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestCanceled: canceling the context damages neither the store nor the files.
func TestCanceled(t *testing.T) {
	t.Parallel()
	for point := range 12 {
		w := newEnv(t)
		w.sh("mkdir d; echo 1 >d/f; echo 1 >g")
		before := w.show()
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		w.store.trace = func(string) {
			if n++; n == point {
				cancel()
			}
		}
		if point == 0 {
			cancel()
		}
		_, _ = w.store.Take(ctx, w.dir, alice)
		w.store.trace = nil
		s := w.span("rm d/f; echo 2 >g")
		w.undo(Refuse, s)
		cancel()
		if diff := cmp.Diff(before, w.show()); diff != "" {
			t.Errorf("point %d: %s", point, diff)
		}
		if _, err := w.store.Take(ctx, w.dir, alice); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
