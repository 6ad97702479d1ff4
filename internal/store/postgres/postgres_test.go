package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, schema(t)) })
}

func TestShared(t *testing.T) {
	t.Parallel()
	storetest.RunShared(t, func(t *testing.T) (a, b store.Store) {
		url := schema(t)
		return open(t, url), open(t, url)
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.RunTokens(t, func(t *testing.T) (a, b store.Tokens) {
		url := schema(t)
		return open(t, url), open(t, url)
	})
}

// aged returns a function that moves a host's last heartbeat into the past.
func aged(s *postgres.Store) func(t *testing.T, host string, by time.Duration) {
	return func(t *testing.T, host string, by time.Duration) {
		t.Helper()
		query(t, s, "UPDATE hosts SET seen = seen - $2::interval WHERE name = $1", host, by)
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	storetest.RunHostRegistry(t, func(t *testing.T) storetest.HostRegistry {
		s := open(t, schema(t))
		s.SetLive(time.Hour) // a slow test must not make a host expire
		return storetest.HostRegistry{HostRegistry: s, Age: aged(s)}
	})
}

// TestHostsAreLateSoon checks the time after which a silent host is no longer live,
// and its work is no longer waited for.
func TestHostsAreLateSoon(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	if _, err := s.Heartbeat(t.Context(), fleet.Host{Name: "a", Capacity: 1}); err != nil {
		t.Fatal(err)
	}
	aged(s)(t, "a", 6*time.Second)
	if w, err := s.Place(t.Context(), "/w", ""); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("placed %+v, %v: want ErrUnavailable", w, err)
	}
}

func TestTenants(t *testing.T) {
	t.Parallel()
	storetest.RunTenants(t, func(t *testing.T) storetest.Tenanted {
		s := open(t, schema(t))
		s.SetLive(time.Hour)
		return s
	})
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	storetest.RunAccounts(t, func(t *testing.T) storetest.Tenanted {
		s := open(t, schema(t))
		s.SetLive(time.Hour)
		return s
	})
}

// TestAlone checks that one process at a time runs under a name, and that the next
// one can run after it, whatever its result.
func TestAlone(t *testing.T) {
	t.Parallel()
	url := schema(t)
	a, b := open(t, url), open(t, url)
	try := func(s *postgres.Store, name string) bool {
		t.Helper()
		did, err := s.Alone(t.Context(), name, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return did
	}
	fault := errors.New("it went wrong")
	did, err := a.Alone(t.Context(), "look", func(context.Context) error {
		if try(b, "look") || !try(b, "other") {
			t.Error("two did the same at once, or one could not do another thing")
		}
		return fault
	})
	if !did || !errors.Is(err, fault) {
		t.Errorf("did %t, %v", did, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := a.Alone(ctx, "look", func(context.Context) error { cancel(); return nil }); err != nil {
		t.Error(err)
	}
	if !try(b, "look") {
		t.Error("it is not over")
	}
}
