package serve

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// openTenants opens an app on a store that supports tenants.
func openTenants(t *testing.T) (*app.App, store.Tenants) {
	t.Helper()
	t.Setenv("PAWL_STORE", harness.Stores["postgres"](t))
	t.Setenv("PAWL_DATA", filepath.Join(t.TempDir(), "data"))
	t.Setenv("HOME", t.TempDir())
	a, err := app.Open(t.Context(), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	tenants, err := a.Tenants()
	if err != nil {
		t.Fatal(err)
	}
	return a, tenants
}

// TestRemoveTenantWithSessions checks that a tenant with sessions is removed only with --with-sessions, which deletes
// all its sessions and no others.
func TestRemoveTenantWithSessions(t *testing.T) { //nolint:paralleltest // it sets environment variables
	a, tenants := openTenants(t)
	sessions := map[store.Tenant]pawl.SessionID{}
	for _, tenant := range []store.Tenant{"acme", "rival"} {
		if err := tenants.AddTenant(t.Context(), store.Account{Tenant: tenant}); err != nil {
			t.Fatal(err)
		}
		ctx := store.WithTenant(t.Context(), tenant)
		s, err := a.Create(ctx, pawl.NewSession{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Create(ctx, pawl.NewSession{Dir: t.TempDir(), Parent: s.ID}); err != nil {
			t.Fatal(err)
		}
		sessions[tenant] = s.ID
	}
	if _, err := removeTenant(t.Context(), a, "acme", false); !errors.Is(err, pawl.ErrConflict) || !strings.Contains(fault.HintOf(err), "--with-sessions") {
		t.Errorf("one with sessions: %v", err)
	}
	if _, err := a.Get(store.WithTenant(t.Context(), "acme"), sessions["acme"]); err != nil {
		t.Error(err)
	}
	done, err := removeTenant(t.Context(), a, "acme", true)
	if err != nil || done != (removed{"acme", 2}) {
		t.Errorf("removed %+v, %v", done, err)
	}
	if left, err := tenants.SessionsOf(t.Context(), "acme", 10); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if left, err := tenants.SessionsOf(t.Context(), "rival", 10); err != nil || len(left) != 2 {
		t.Errorf("the other has %v, %v", left, err)
	}
}

// TestFleetAuthenticator checks that sessions of a fleet may work only in directories of their tenant, which need not
// exist on the server. Outside of a fleet, workspaces have no names.
func TestFleetAuthenticator(t *testing.T) {
	t.Parallel()
	g := authenticator{workspaces: "/far/work", access: &access.Access{Roots: access.Roots{t.TempDir()}}}
	for dir, want := range map[string]error{"/far/work/acme/x": nil, "/far/work/rival/x": pawl.ErrDenied, "/far/work/_/x": pawl.ErrDenied, g.access.Roots[0]: pawl.ErrDenied} {
		if err := g.allow(api.Principal{Tenant: "acme"}, dir); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", dir, err, want)
		}
	}
	if dir, err := g.workspaceDir()(api.Principal{Tenant: "acme"}, "shop"); err != nil || dir != "/far/work/acme/shop" {
		t.Errorf("a workspace is in %s, %v", dir, err)
	}
	if (authenticator{}).workspaceDir() != nil {
		t.Error("a server without a fleet has workspaces")
	}
}
