package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// TestNobodysConnectionSeesNothing checks that a connection without a valid tenant
// setting sees no rows.
func TestNobodysConnectionSeesNothing(t *testing.T) {
	t.Parallel()
	url := schema(t)
	fill(t, open(t, url), 3, 2)
	for _, set := range []string{"", "SET pawl.tenant = ''", "SET pawl.tenant = 'x'", "SET pawl.tenant = '*'", "SET pawl.tenant = 't:acme'", "SET row_security = on"} {
		u, err := pgx.Connect(t.Context(), strings.Replace(url, "pool_max_conns=8&", "", 1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := u.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		if _, err := u.Exec(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"sessions", "events", "events_00", "session_words", "usage_days"} {
			var n int
			if err := u.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 0 {
				t.Errorf("after %q %d rows of %s are seen, %v", set, n, table, err)
			}
		}
		if _, err := u.Exec(t.Context(), "INSERT INTO drafts (session_id, tenant, body) SELECT id, '', '{}' FROM sessions UNION ALL SELECT 'x', '', '{}'"); err == nil {
			t.Errorf("after %q a row is written", set)
		}
	}
}

// TestTenantsTakeTurns checks that a connection can serve one tenant after the other,
// and that each sees only its own rows.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	s := open(t, strings.Replace(schema(t), "pool_max_conns=8", "pool_max_conns=2", 1))
	var wg sync.WaitGroup
	for _, tenant := range []store.Tenant{"", "a", "b", "c", "d"} {
		wg.Go(func() {
			ctx := store.WithTenant(t.Context(), tenant)
			for n := range 20 {
				id := storetest.NewID()
				if _, err := s.Append(ctx, id, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/" + string(tenant)}}); err != nil {
					t.Error(err)
				}
				all, err := s.Sessions(ctx, pawl.Filter{})
				if err != nil || len(all.Sessions) != n+1 {
					t.Errorf("%q sees %d sessions of its %d, %v", tenant, len(all.Sessions), n+1, err)
				}
			}
		})
	}
	wg.Wait()
	for _, odd := range []store.Tenant{"*", "t:", "A", "a b", "-"} {
		if _, err := s.Sessions(store.WithTenant(t.Context(), odd), pawl.Filter{}); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("tenant %q: %v, want ErrInvalid", odd, err)
		}
	}
}

func TestCheckTenancy(t *testing.T) {
	t.Parallel()
	address := freshSchema(t)
	s := open(t, address)
	if err := s.CheckTenancy(t.Context()); err != nil {
		t.Errorf("a role that is bound: %v", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("postgres")
	if err := open(t, u.String()).CheckTenancy(t.Context()); !errors.Is(err, pawl.ErrDenied) || !strings.Contains(fault.HintOf(err), "CREATE ROLE") {
		t.Errorf("a superuser: %v, want ErrDenied that says what to do", err)
	}
	query(t, s, "ALTER TABLE drafts NO FORCE ROW LEVEL SECURITY")
	if err := s.CheckTenancy(t.Context()); !errors.Is(err, pawl.ErrDenied) || !strings.Contains(err.Error(), "drafts") {
		t.Errorf("a table that is open: %v, want ErrDenied that names it", err)
	}
}

// TestLoads checks that the operator sees the load of each tenant.
func TestLoads(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	turn := []pawl.Body{pawl.SessionCreated{Dir: "/w"}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}}, pawl.TurnStarted{Prompt: 2}}
	ask := append(slices.Clone(turn), pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskQuestion}})
	for tenant, logs := range map[store.Tenant][][]pawl.Body{
		"":     {turn},
		"acme": {turn[:1], turn[:2], turn[:2], turn, ask, append(slices.Clone(ask), pawl.Answered{Ask: 4}), append(slices.Clone(turn), pawl.TurnFinished{Reason: pawl.ReasonEndTurn})},
		"idle": {turn[:1]},
	} {
		ctx := store.WithTenant(t.Context(), tenant)
		if err := s.Declare(ctx, "/"+string(tenant), ""); err != nil {
			t.Fatal(err)
		}
		for _, bodies := range logs {
			id := storetest.NewID()
			for i, b := range bodies {
				if _, err := s.Append(ctx, id, pawl.Seq(i), pawl.Event{Turn: max(0, min(1, i-1)), Body: b}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	got, err := s.Loads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []fleet.Load{{Working: 1}, {Tenant: "acme", Working: 3, Queued: 2, Waiting: 1}, {Tenant: "idle"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the work (-want +got):\n%s", diff)
	}
}

// TestTenantsAreNotTheirOwnToChange checks that row-level security shows a tenant its
// own row and lets it change none.
func TestTenantsAreNotTheirOwnToChange(t *testing.T) {
	t.Parallel()
	address := schema(t)
	s := open(t, address)
	for _, tenant := range []store.Tenant{"acme", "rival"} {
		if err := s.AddTenant(t.Context(), store.Account{Tenant: tenant, Limits: store.Limits{Rate: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := s.Pool().Acquire(store.WithTenant(t.Context(), "acme"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var seen string
	if err := conn.QueryRow(t.Context(), "SELECT string_agg(tenant, ' ') FROM tenants").Scan(&seen); err != nil || seen != "acme" {
		t.Errorf("a tenant sees %q, %v", seen, err)
	}
	for _, statement := range []string{"UPDATE tenants SET rate = 0", "DELETE FROM tenants"} {
		if done, err := conn.Exec(t.Context(), statement); err != nil || done.RowsAffected() != 0 {
			t.Errorf("%s: %v, %v", statement, done, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "INSERT INTO tenants (tenant, created) VALUES ('third', now())"); err == nil {
		t.Error("a tenant made another")
	}
}
