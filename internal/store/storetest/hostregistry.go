package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/store"
)

// HostRegistry is the registry under test. A host is live for an hour after its
// heartbeat.
type HostRegistry struct {
	fleet.HostRegistry
	Age func(t *testing.T, host string, by time.Duration) // moves a host's last heartbeat into the past
}

// RunHostRegistry checks a host registry. open returns an empty one, which is closed with its
// test.
func RunHostRegistry(t *testing.T, open func(t *testing.T) HostRegistry) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, HostRegistry)
	}{
		{"hosts are as they told last", registryHosts},
		{"a workspace stays where it is", registryStays},
		{"a workspace leaves a host that cannot have it", registryLeaves},
		{"a host drains until that is taken back", registryDrain},
		{"a workspace goes where the most room is", registryCapacity},
		{"what comes between two beats is spread", registryBurst},
		{"without a host there is no place", registryNoHost},
		{"of 50 callers all get the same place", registryRace},
		{"of 50 callers who lost a host all get the same place", registryLostRace},
		{"workspaces begin as declared", registryDeclared},
		{"workspaces are offered until they are taken", registryOffered},
		{"checkpoints count in the last epoch only", registrySaved},
		{"what is allowed goes with a workspace, and ends with it", registryAllowed},
		{"workspaces are vacated and dropped", registryVacated},
		{"a workspace that was dropped begins anew", registryAnew},
		{"workspaces refuse nonsense", registryDenies},
		{"a folder is one tenant's", registryTenants},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// heartbeat sends a heartbeat of each host.
func (r HostRegistry) heartbeat(t *testing.T, hosts ...fleet.Host) {
	t.Helper()
	for _, m := range hosts {
		if _, err := r.Heartbeat(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// placed places a directory and expects it on the host, in a later epoch than after.
func (r HostRegistry) placed(t *testing.T, dir, lost, host string, after int64) fleet.Workspace {
	t.Helper()
	w, err := r.Place(t.Context(), dir, lost)
	if err != nil {
		t.Fatal(err)
	}
	if w.Dir != dir || w.Host != host || w.Epoch <= after {
		t.Fatalf("placed %+v, want %s on %s after epoch %d", w, dir, host, after)
	}
	return w
}

// stays places a directory and expects it where it was.
func (r HostRegistry) stays(t *testing.T, lost string, was fleet.Workspace) fleet.Workspace {
	t.Helper()
	w := r.placed(t, was.Dir, lost, was.Host, was.Epoch-1)
	equal(t, "the epoch of "+was.Dir, w.Epoch, was.Epoch)
	return w
}

// done fails the test if there is an error.
func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func registryHosts(t *testing.T, r HostRegistry) {
	full := fleet.Host{Name: "b", Version: "1.2", Capacity: 8, Busy: 2, Kept: 5, DiskFree: 1 << 40, Full: true, Draining: true}
	r.heartbeat(t, fleet.Host{Name: "b", Version: "1.1"}, full, fleet.Host{Name: "a", Capacity: 1}, fleet.Host{Name: "gone"}, fleet.Host{Name: "late"})
	r.Age(t, "gone", 25*time.Hour)
	r.Age(t, "late", 2*time.Hour)
	got, err := r.Hosts(t.Context())
	done(t, err)
	full.Live = true
	want := []fleet.Host{{Name: "a", Capacity: 1, Live: true}, full, {Name: "late"}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(fleet.Host{}, "Seen")); diff != "" {
		t.Fatalf("hosts (-want +got):\n%s", diff)
	}
	if d := got[1].Seen.Sub(got[2].Seen); d < time.Hour || d > 2*time.Hour {
		t.Errorf("one was seen %s after the other, want nearly two hours", d)
	}
	_, err = r.Heartbeat(t.Context(), fleet.Host{})
	fails(t, "no name", err, pawl.ErrInvalid)
	_, err = r.Heartbeat(t.Context(), fleet.Host{Name: "a\x00"})
	fails(t, "an odd name", err, pawl.ErrInvalid)
}

func registryStays(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4})
	w := r.placed(t, "/w", "", "a", 0)
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4, Busy: 9}, fleet.Host{Name: "b", Capacity: 100})
	r.stays(t, "", w) // b has more capacity, but the directory is on a
	r.stays(t, "b", w)
	got, err := r.Workspace(t.Context(), "/w")
	done(t, err)
	equal(t, "the workspace", got, fleet.Workspace{Dir: "/w", Host: "a", Epoch: w.Epoch, Born: w.Epoch})
}

func registryLeaves(t *testing.T, r HostRegistry) {
	fine := fleet.Host{Name: "a", Capacity: 4}
	for i, c := range []struct {
		why   string
		spoil func(m *fleet.Host)
		age   time.Duration
		lost  string
	}{
		{why: "full", spoil: func(m *fleet.Host) { m.Full = true }},
		{why: "draining", spoil: func(m *fleet.Host) { m.Draining = true }},
		{why: "without room", spoil: func(m *fleet.Host) { m.Capacity = 0 }},
		{why: "not seen", spoil: func(*fleet.Host) {}, age: 2 * time.Hour},
		{why: "lost", spoil: func(*fleet.Host) {}, lost: "a"},
	} {
		dir, bad := fmt.Sprintf("/w%d", i), fine
		r.heartbeat(t, fine, fleet.Host{Name: "b", Capacity: 4, Draining: true})
		was := r.placed(t, dir, "", "a", 0)
		c.spoil(&bad)
		r.heartbeat(t, bad, fleet.Host{Name: "b", Capacity: 4})
		r.Age(t, "a", c.age)
		w, err := r.Place(t.Context(), dir, c.lost)
		if err != nil || w.Host != "b" || w.Epoch <= was.Epoch {
			t.Errorf("%s: %+v, %v", c.why, w, err)
		}
		r.heartbeat(t, fine)
		r.stays(t, "", w) // it does not move back by itself
	}
}

func registryDrain(t *testing.T, r HostRegistry) {
	hosts := []fleet.Host{{Name: "a", Capacity: 4}, {Name: "b", Capacity: 4, Busy: 4}}
	drains := func(want bool) {
		t.Helper()
		for range 2 { // its heartbeats do not end the draining
			got, err := r.Heartbeat(t.Context(), hosts[0])
			done(t, err)
			equal(t, "the host is asked to drain", got, want)
		}
		all, err := r.Hosts(t.Context())
		done(t, err)
		equal(t, "the host counts as draining", []bool{all[0].Draining, all[1].Draining}, []bool{want, false})
	}
	r.heartbeat(t, hosts...)
	r.placed(t, "/w", "", "a", 1)
	done(t, r.Drain(t.Context(), "a", true))
	drains(true)
	r.placed(t, "/w", "", "b", 2)
	r.placed(t, "/new", "", "b", 1)
	done(t, r.Drain(t.Context(), "a", true))
	drains(true)
	done(t, r.Drain(t.Context(), "a", false))
	drains(false)
	r.placed(t, "/newer", "", "a", 1)
	fails(t, "a host that nobody knows", r.Drain(t.Context(), "c", true), pawl.ErrNotFound)
	fails(t, "an odd name", r.Drain(t.Context(), "a\x00", true), pawl.ErrInvalid)
}

func registryCapacity(t *testing.T, r HostRegistry) {
	for i, c := range []struct {
		why         string
		least, more fleet.Host
	}{
		{"fewer at work", fleet.Host{Capacity: 10, Busy: 1}, fleet.Host{Capacity: 10, Busy: 5}},
		{"fewer of its room at work", fleet.Host{Capacity: 100, Busy: 5}, fleet.Host{Capacity: 10, Busy: 1}},
		{"fewer on the disk", fleet.Host{Capacity: 10, Kept: 1}, fleet.Host{Capacity: 10, Kept: 50}},
		{"over its room, but less", fleet.Host{Capacity: 1, Busy: 2}, fleet.Host{Capacity: 1, Busy: 7}},
	} {
		c.least.Name, c.more.Name = "least", "more"
		for n := range 8 { // ties are broken at random
			r.heartbeat(t, c.least, c.more)
			w, err := r.Place(t.Context(), fmt.Sprintf("/w%d/%d", i, n), "")
			if err != nil || w.Host != "least" {
				t.Fatalf("%s: %+v, %v", c.why, w, err)
			}
		}
	}
}

func registryBurst(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 10}, fleet.Host{Name: "b", Capacity: 10, Busy: 1}, fleet.Host{Name: "c", Capacity: 20})
	got := map[string]int{}
	for i := range 39 {
		w, err := r.Place(t.Context(), fmt.Sprintf("/w%d", i), "")
		done(t, err)
		got[w.Host]++
	}
	equal(t, "given", got, map[string]int{"a": 10, "b": 9, "c": 20})
}

func registryNoHost(t *testing.T, r HostRegistry) {
	none := func(what, lost string) {
		t.Helper()
		_, err := r.Place(t.Context(), "/w", lost)
		fails(t, what, err, pawl.ErrUnavailable)
		_, err = r.Workspace(t.Context(), "/w")
		fails(t, what+": the workspace", err, pawl.ErrNotFound)
	}
	none("no host", "")
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4}, fleet.Host{Name: "b", Capacity: 4, Full: true})
	none("a lost one", "a")
	r.Age(t, "a", 2*time.Hour)
	none("a late one", "")
}

// together runs 50 calls concurrently and returns their results.
func together(t *testing.T, f func(ctx context.Context, i int) (fleet.Workspace, error)) []fleet.Workspace {
	t.Helper()
	all := make([]fleet.Workspace, 50)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			<-start
			var err error
			if all[i], err = f(t.Context(), i); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	return all
}

func registryRace(t *testing.T, r HostRegistry) {
	for i := range 10 {
		r.heartbeat(t, fleet.Host{Name: fmt.Sprintf("h%d", i), Capacity: 4})
	}
	for round := range 5 {
		dir := fmt.Sprintf("/w%d", round)
		for _, w := range together(t, func(ctx context.Context, _ int) (fleet.Workspace, error) { return r.Place(ctx, dir, "") }) {
			r.stays(t, "", w)
		}
	}
}

func registryLostRace(t *testing.T, r HostRegistry) {
	hosts := []fleet.Host{}
	for i := range 10 {
		hosts = append(hosts, fleet.Host{Name: fmt.Sprintf("h%d", i), Capacity: 4})
	}
	r.heartbeat(t, hosts...)
	last, err := r.Place(t.Context(), "/w", "")
	done(t, err)
	for range 5 {
		r.heartbeat(t, hosts...)
		lost := last.Host
		for _, w := range together(t, func(ctx context.Context, _ int) (fleet.Workspace, error) { return r.Place(ctx, "/w", lost) }) {
			if w.Host == lost || w.Epoch <= last.Epoch {
				t.Fatalf("placed %+v after %+v was lost", w, last)
			}
			r.stays(t, lost, w)
		}
		last, err = r.Workspace(t.Context(), "/w")
		done(t, err)
	}
}

func registryDeclared(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4})
	done(t, r.Declare(t.Context(), "/w", "https://example.com/r.git"))
	done(t, r.Declare(t.Context(), "/w", "https://example.com/r.git"))
	fails(t, "another source", r.Declare(t.Context(), "/w", "https://example.com/s.git"), pawl.ErrConflict)
	w := r.placed(t, "/w", "", "a", 0)
	equal(t, "the source", w.Source, "https://example.com/r.git")
	done(t, r.Declare(t.Context(), "/w", w.Source))
	r.placed(t, "/empty", "", "a", 0)
	fails(t, "one that began empty", r.Declare(t.Context(), "/empty", "https://example.com/r.git"), pawl.ErrConflict)
	done(t, r.Declare(t.Context(), "/empty", ""))
}

func registryOffered(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4})
	done(t, r.Offer(t.Context(), "/w", "c1", 1))
	done(t, r.Offer(t.Context(), "/w", "c2", 2))
	w, err := r.Workspace(t.Context(), "/w")
	done(t, err)
	equal(t, "offered", w, fleet.Workspace{Dir: "/w", Born: w.Born, Checkpoint: "c2", Size: 2, Saved: w.Saved})
	if w.Saved.IsZero() {
		t.Error("it is not said when it was saved")
	}
	equal(t, "taken", r.placed(t, "/w", "", "a", 0).Checkpoint, "c2")
	fails(t, "one that was taken", r.Offer(t.Context(), "/w", "c3", 3), pawl.ErrConflict)
	equal(t, "after that", r.placed(t, "/w", "", "a", 0).Checkpoint, "c2")
}

func registrySaved(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4}, fleet.Host{Name: "b", Capacity: 4, Draining: true})
	fails(t, "a missing one", r.Saved(t.Context(), "/w", 1, "c", 1), pawl.ErrConflict)
	first := r.placed(t, "/w", "", "a", 0)
	done(t, r.Saved(t.Context(), "/w", first.Epoch, "c1", 10))
	r.heartbeat(t, fleet.Host{Name: "b", Capacity: 4})
	w := r.placed(t, "/w", "a", "b", first.Epoch)
	equal(t, "what the next host gets", []any{w.Checkpoint, w.Size}, []any{"c1", int64(10)})
	fails(t, "the host before", r.Saved(t.Context(), "/w", first.Epoch, "old", 1), pawl.ErrConflict)
	fails(t, "a host to come", r.Saved(t.Context(), "/w", w.Epoch+1, "new", 1), pawl.ErrConflict)
	done(t, r.Saved(t.Context(), "/w", w.Epoch, "c2", 20))
	w = r.stays(t, "", w)
	equal(t, "the newest", []any{w.Checkpoint, w.Size}, []any{"c2", int64(20)})
}

func registryAllowed(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4}, fleet.Host{Name: "b", Capacity: 4, Draining: true})
	allowed := func(want string) {
		t.Helper()
		text, err := r.Allowed(t.Context(), "/w")
		done(t, err)
		equal(t, "what is allowed", text, want)
	}
	_, err := r.Allowed(t.Context(), "/w")
	fails(t, "a missing one", err, pawl.ErrNotFound)
	fails(t, "a missing one", r.Allow(t.Context(), "/w", 1, "all"), pawl.ErrConflict)
	first := r.placed(t, "/w", "", "a", 0)
	allowed("")
	done(t, r.Allow(t.Context(), "/w", first.Epoch, "one"))
	r.heartbeat(t, fleet.Host{Name: "b", Capacity: 4})
	w := r.placed(t, "/w", "a", "b", first.Epoch)
	fails(t, "the host before", r.Allow(t.Context(), "/w", first.Epoch, "all"), pawl.ErrConflict)
	allowed("one")
	done(t, r.Allow(t.Context(), "/w", w.Epoch, "two"))
	allowed("two")
	done(t, r.Drop(t.Context(), "/w"))
	_, err = r.Place(t.Context(), "/w", "")
	done(t, err)
	allowed("")
}

func registryVacated(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4})
	v, w, x := r.placed(t, "/v", "", "a", 0), r.placed(t, "/w", "", "a", 0), r.placed(t, "/x", "", "a", 0)
	done(t, r.Saved(t.Context(), "/w", w.Epoch, "c1", 1))
	done(t, r.Vacate(t.Context(), "/v", v.Epoch+1)) // another epoch
	done(t, r.Vacate(t.Context(), "/w", w.Epoch))
	done(t, r.Drop(t.Context(), "/x"))
	done(t, r.Drop(t.Context(), "/x"))
	done(t, r.Vacate(t.Context(), "/x", x.Epoch))
	on := func(host string) (dirs []string) {
		all, err := r.Workspaces(t.Context(), host)
		done(t, err)
		for _, w := range all {
			dirs = append(dirs, w.Dir)
		}
		return dirs
	}
	equal(t, "on the host", on("a"), []string{"/v"})
	equal(t, "nowhere", on(""), nil)
	equal(t, "on one that is not there", on("b"), nil)
	got, err := r.Workspace(t.Context(), "/w")
	done(t, err)
	equal(t, "the vacated", got, fleet.Workspace{Dir: "/w", Epoch: w.Epoch, Born: w.Epoch, Checkpoint: "c1", Size: 1, Saved: got.Saved})
	_, err = r.Workspace(t.Context(), "/x")
	fails(t, "the dropped", err, pawl.ErrNotFound)
	again := r.placed(t, "/w", "", "a", w.Epoch)
	equal(t, "placed again", again.Checkpoint, "c1")
	done(t, r.Vacate(t.Context(), "/w", w.Epoch)) // too late
	r.stays(t, "", again)
}

// registryAnew checks that a host that had a directory before it was dropped cannot
// write to the new directory of the same name.
func registryAnew(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4}, fleet.Host{Name: "b", Capacity: 4})
	known := map[int64]bool{}
	for range 5 {
		w, err := r.Place(t.Context(), "/w", "")
		done(t, err)
		moved, err := r.Place(t.Context(), "/w", w.Host)
		done(t, err)
		for _, w := range []fleet.Workspace{w, moved} {
			if known[w.Epoch] {
				t.Fatalf("epoch %d came twice", w.Epoch)
			}
			known[w.Epoch] = true
		}
		done(t, r.Saved(t.Context(), "/w", moved.Epoch, "c", 1))
		done(t, r.Drop(t.Context(), "/w"))
	}
	now, err := r.Place(t.Context(), "/w", "")
	done(t, err)
	for old := range known {
		if old >= now.Born {
			t.Errorf("it began with epoch %d, and there was %d before", now.Born, old)
		}
		fails(t, "a host of before", r.Saved(t.Context(), "/w", old, "old", 1), pawl.ErrConflict)
		done(t, r.Vacate(t.Context(), "/w", old))
	}
	equal(t, "what is there now", r.stays(t, "", now), now)
}

func registryDenies(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4})
	for _, dir := range []string{"", "w", "/w/", "/w/../x", "/\x00", "/\xff"} {
		_, err := r.Place(t.Context(), dir, "")
		fails(t, dir, err, pawl.ErrInvalid)
		_, err = r.Workspace(t.Context(), dir)
		fails(t, dir, err, pawl.ErrInvalid)
		fails(t, dir, r.Declare(t.Context(), dir, ""), pawl.ErrInvalid)
		fails(t, dir, r.Offer(t.Context(), dir, "c", 1), pawl.ErrInvalid)
		fails(t, dir, r.Saved(t.Context(), dir, 1, "c", 1), pawl.ErrInvalid)
		fails(t, dir, r.Allow(t.Context(), dir, 1, ""), pawl.ErrInvalid)
		_, err = r.Allowed(t.Context(), dir)
		fails(t, dir, err, pawl.ErrInvalid)
		fails(t, dir, r.Vacate(t.Context(), dir, 1), pawl.ErrInvalid)
		fails(t, dir, r.Drop(t.Context(), dir), pawl.ErrInvalid)
	}
	fails(t, "an odd source", r.Declare(t.Context(), "/w", "\xff"), pawl.ErrInvalid)
}

func registryTenants(t *testing.T, r HostRegistry) {
	r.heartbeat(t, fleet.Host{Name: "a", Capacity: 4}, fleet.Host{Name: "b", Capacity: 4})
	acme, rival := store.WithTenant(t.Context(), "acme"), store.WithTenant(t.Context(), "rival")
	w, err := r.Place(acme, "/w", "")
	done(t, err)
	equal(t, "the tenant", w.Tenant, "acme")
	for _, ctx := range []context.Context{rival, t.Context()} {
		_, err = r.Place(ctx, "/w", w.Host)
		fails(t, "place", err, pawl.ErrConflict)
		_, err = r.Workspace(ctx, "/w")
		fails(t, "workspace", err, pawl.ErrNotFound)
		fails(t, "declare", r.Declare(ctx, "/w", ""), pawl.ErrConflict)
		fails(t, "offer", r.Offer(ctx, "/w", "c", 1), pawl.ErrConflict)
		fails(t, "saved", r.Saved(ctx, "/w", w.Epoch, "c", 1), pawl.ErrConflict)
		fails(t, "allow", r.Allow(ctx, "/w", w.Epoch, "all"), pawl.ErrConflict)
		_, err = r.Allowed(ctx, "/w")
		fails(t, "allowed", err, pawl.ErrNotFound)
		done(t, r.Vacate(ctx, "/w", w.Epoch))
		done(t, r.Drop(ctx, "/w"))
	}
	got, err := r.Workspace(acme, "/w")
	done(t, err)
	equal(t, "what is left", got, w)
	all, err := r.Workspaces(rival, w.Host)
	done(t, err)
	equal(t, "those of all tenants", all, []fleet.Workspace{w})
}
