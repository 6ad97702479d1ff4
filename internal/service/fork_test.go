package service_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// withSnapshots is a service over snapshots, and a session that has one.
func withSnapshots(t *testing.T, change func(*service.Config)) (*service.Service, *snapshot.Store, pawl.Session) {
	t.Helper()
	st, snapshots := servicetest.Local(t).Store, servicetest.Snapshots(t)
	c := service.Config{Store: st, Bus: bus.New(st, bus.Config{}), Runner: absent{}, CopySnapshots: snapshots.Adopt, DeleteSnapshots: snapshots.Forget}
	if change != nil {
		change(&c)
	}
	svc := service.New(c)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := svc.Create(t.Context(), pawl.NewSession{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshots.Take(t.Context(), dir, s.ID); err != nil {
		t.Fatal(err)
	}
	return svc, snapshots, s
}

func owners(t *testing.T, snapshots *snapshot.Store) []pawl.SessionID {
	t.Helper()
	list, err := snapshots.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A fork keeps the snapshots of its origin, whichever of them is deleted.
func TestForkKeepsSnapshots(t *testing.T) { //nolint:paralleltest // it sets environment variables
	svc, snapshots, s := withSnapshots(t, nil)
	fork, err := svc.Fork(t.Context(), s.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := owners(t, snapshots); !slices.Equal([]pawl.SessionID{s.ID, fork.ID}, got) {
		t.Errorf("they are kept by %v", got)
	}
	for i, id := range []pawl.SessionID{s.ID, fork.ID} {
		if err := svc.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if got := owners(t, snapshots); len(got) != 1-i {
			t.Errorf("they are kept by %v", got)
		}
	}
}

// A fork keeps the snapshots of added directories too.
func TestForkKeepsSnapshotsOfAddedDirectories(t *testing.T) { //nolint:paralleltest // it sets environment variables
	var copied []string
	var st store.Store
	svc, _, s := withSnapshots(t, func(c *service.Config) {
		st = c.Store
		copies := c.CopySnapshots
		c.CopySnapshots = func(ctx context.Context, dir string, from, to pawl.SessionID) error {
			copied = append(copied, dir)
			return copies(ctx, dir, from, to)
		}
	})
	lib, tools := t.TempDir(), t.TempDir()
	var events []pawl.Event
	for _, b := range []pawl.Body{
		pawl.ShellAsked{Command: "make"}, pawl.ShellStarted{Asked: 2, DirSnapshots: map[string]string{lib: "", tools: ""}}, pawl.ShellRan{Asked: 2, Status: pawl.CallDone},
	} {
		events = append(events, pawl.Event{At: s.Created, Body: b})
	}
	if _, err := st.Append(t.Context(), s.ID, s.Head, events...); err != nil {
		t.Fatal(err)
	}
	if _, err := svc.Fork(t.Context(), s.ID, 0); err != nil {
		t.Fatal(err)
	}
	want := []string{s.Dir, lib, tools}
	slices.Sort(want)
	if !slices.Equal(want, copied) {
		t.Errorf("the snapshots of %v are kept, want %v", copied, want)
	}
}

// Snapshots that cannot be let go of do not keep a session from being deleted,
// and whoever deletes it is informed.
func TestDeleteWithoutForgetting(t *testing.T) { //nolint:paralleltest // it sets environment variables
	fault := errors.New("the disk is gone")
	svc, _, s := withSnapshots(t, func(c *service.Config) {
		c.DeleteSnapshots = func(context.Context, pawl.SessionID) error { return fault }
	})
	if err := svc.Delete(t.Context(), s.ID); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	if _, err := svc.Get(t.Context(), s.ID); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if err := svc.Delete(t.Context(), s.ID); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// A fork that could not be made whole is not made.
func TestForkWithoutAdopting(t *testing.T) { //nolint:paralleltest // it sets environment variables
	fault := errors.New("the disk is full")
	svc, _, s := withSnapshots(t, func(c *service.Config) {
		c.CopySnapshots = func(context.Context, string, pawl.SessionID, pawl.SessionID) error { return fault }
	})
	if _, err := svc.Fork(t.Context(), s.ID, 0); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	list, err := svc.List(t.Context(), pawl.Filter{})
	if err != nil || len(list.Sessions) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
}

// beginStore has its own way to begin a session.
type beginStore struct {
	store.Store
	begin func() error
}

func (s beginStore) Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	return s.Store.Begin(ctx, id, blobs, events...)
}

// The snapshots are kept before there is a fork that needs them, and let go of
// if none exists. After a kill 'pawl gc' does that: the session no longer exists.
func TestForkThatDoesNotBegin(t *testing.T) { //nolint:paralleltest // it sets environment variables
	fault := errors.New("the disk is full")
	var kept []pawl.SessionID
	var begin func() error
	svc, snapshots, s := withSnapshots(t, func(c *service.Config) {
		c.Store = beginStore{c.Store, func() error { return begin() }}
	})
	begin = func() error { kept = owners(t, snapshots); return fault }
	if _, err := svc.Fork(t.Context(), s.ID, 0); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	if len(kept) != 2 {
		t.Errorf("when it was to begin, they were kept by %v", kept)
	}
	if got := owners(t, snapshots); !slices.Equal([]pawl.SessionID{s.ID}, got) {
		t.Errorf("they are kept by %v", got)
	}
	list, err := svc.List(t.Context(), pawl.Filter{})
	if err != nil || len(list.Sessions) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
}
