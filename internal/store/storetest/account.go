package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// RunAccounts tests a store of tenants. open returns an empty one, which is closed
// when its test ends.
func RunAccounts(t *testing.T, open func(t *testing.T) Tenanted) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Tenanted)
	}{
		{"tenants are kept", accountsKept},
		{"tenants are changed one after the other", accountsChanged},
		{"tenants are removed with what is theirs", accountsRemoved},
		{"tenants are for who runs the fleet", accountsDenied},
		{"a token is of a tenant that is there", accountsTokens},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

func accountsKept(t *testing.T, s Tenanted) {
	full := store.Account{Tenant: "rival", Created: dawn, Suspended: dawn.Add(time.Hour), Limits: store.Limits{Rate: 60, Budget: 5_000_000_000, Parallel: 2, Streams: 3}}
	least := store.Account{Tenant: "acme", Created: dawn}
	for _, a := range []store.Account{full, least} {
		done(t, s.AddTenant(t.Context(), a))
		got, err := s.Tenant(t.Context(), a.Tenant)
		done(t, err)
		equal(t, "the tenant", got, a)
		fails(t, "a second one", s.AddTenant(t.Context(), a), pawl.ErrConflict)
	}
	all, err := s.Tenants(t.Context())
	done(t, err)
	equal(t, "all", all, []store.Account{least, full})
	for _, name := range []store.Tenant{"", "none", "A", "\xff\x00"} {
		_, err := s.Tenant(t.Context(), name)
		fails(t, string(name), err, pawl.ErrNotFound)
		_, err = s.SetTenant(t.Context(), name, func(*store.Account) {})
		fails(t, string(name), err, pawl.ErrNotFound)
		fails(t, string(name), s.RemoveTenant(t.Context(), name), pawl.ErrNotFound)
	}
	for _, name := range []store.Tenant{"", "A", "a b", "-", "*", "_"} {
		fails(t, string(name), s.AddTenant(t.Context(), store.Account{Tenant: name}), pawl.ErrInvalid)
	}
	fails(t, "a limit below 0", s.AddTenant(t.Context(), store.Account{Tenant: "odd", Limits: store.Limits{Rate: -1}}), pawl.ErrInvalid)
}

func accountsChanged(t *testing.T, s Tenanted) {
	done(t, s.AddTenant(t.Context(), store.Account{Tenant: "acme", Created: dawn}))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := s.SetTenant(t.Context(), "acme", func(a *store.Account) { a.Limits.Rate++; a.Tenant, a.Created = "other", time.Time{} })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := s.SetTenant(t.Context(), "acme", func(a *store.Account) { a.Suspended = dawn })
	done(t, err)
	want := store.Account{Tenant: "acme", Created: dawn, Suspended: dawn, Limits: store.Limits{Rate: 20}}
	equal(t, "what holds", got, want)
	_, err = s.SetTenant(t.Context(), "acme", func(a *store.Account) { a.Limits.Budget = -1 })
	fails(t, "a limit below 0", err, pawl.ErrInvalid)
	got, err = s.Tenant(t.Context(), "acme")
	done(t, err)
	equal(t, "what is kept", got, want)
}

func accountsRemoved(t *testing.T, s Tenanted) {
	acme, rival := store.WithTenant(t.Context(), "acme"), store.WithTenant(t.Context(), "rival")
	x, y := furnish(acme, t, s), furnish(rival, t, s)
	before := all(rival, t, s, y)
	fails(t, "one with sessions", s.RemoveTenant(t.Context(), "acme"), pawl.ErrConflict)
	_, err := s.TokenByHash(t.Context(), x.token.Hash)
	done(t, err)
	done(t, s.Release(acme, x.session, "holder"))
	done(t, s.Delete(acme, x.session)) // its subagent remains, which no list shows
	one, err := s.SessionsOf(t.Context(), "acme", 1)
	done(t, err)
	equal(t, "sessions that are left", len(one), 1)
	for _, id := range one {
		done(t, s.Delete(acme, id))
	}
	done(t, s.RemoveTenant(t.Context(), "acme"))
	fails(t, "one that is gone", s.RemoveTenant(t.Context(), "acme"), pawl.ErrNotFound)
	_, err = s.Tenant(t.Context(), "acme")
	fails(t, "the tenant", err, pawl.ErrNotFound)
	_, err = s.TokenByHash(t.Context(), x.token.Hash)
	fails(t, "its token", err, pawl.ErrNotFound)
	_, err = s.Workspace(acme, x.dir)
	fails(t, "its workspace", err, pawl.ErrNotFound)
	fails(t, "the same name", s.AddTenant(t.Context(), store.Account{Tenant: "acme"}), pawl.ErrConflict)
	equal(t, "what the other has", all(rival, t, s, y), before)
}

func accountsDenied(t *testing.T, s Tenanted) {
	done(t, s.AddTenant(t.Context(), store.Account{Tenant: "acme", Created: dawn}))
	for _, tenant := range []store.Tenant{"acme", "rival"} {
		ctx := store.WithTenant(t.Context(), tenant)
		_, err := s.Tenant(ctx, "acme")
		fails(t, "Tenant", err, pawl.ErrDenied)
		_, err = s.Tenants(ctx)
		fails(t, "Tenants", err, pawl.ErrDenied)
		_, err = s.SetTenant(ctx, "acme", func(a *store.Account) { a.Limits.Rate = 7 })
		fails(t, "SetTenant", err, pawl.ErrDenied)
		_, err = s.SessionsOf(ctx, "acme", 1)
		fails(t, "SessionsOf", err, pawl.ErrDenied)
		fails(t, "AddTenant", s.AddTenant(ctx, store.Account{Tenant: "third"}), pawl.ErrDenied)
		fails(t, "RemoveTenant", s.RemoveTenant(ctx, "acme"), pawl.ErrDenied)
	}
	left, err := s.Tenants(t.Context())
	done(t, err)
	equal(t, "what is there", left, []store.Account{{Tenant: "acme", Created: dawn}})
}

func accountsTokens(t *testing.T, s Tenanted) {
	add := func(ctx context.Context) error {
		k := token("ci")
		k.Tenant = store.TenantOf(ctx)
		return s.AddToken(ctx, k)
	}
	acme := store.WithTenant(t.Context(), "acme")
	fails(t, "before", add(acme), pawl.ErrNotFound)
	done(t, s.AddTenant(t.Context(), store.Account{Tenant: "acme"}))
	done(t, add(acme))
	done(t, add(t.Context()))
	done(t, s.RemoveTenant(t.Context(), "acme"))
	fails(t, "after", add(acme), pawl.ErrNotFound)
}
