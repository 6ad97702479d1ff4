package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Row-level security restricts every query to the tenant of the connection, the
// setting pawl.tenant; see migrations/0006_tenants.sql.

// setting returns the value of pawl.tenant for the context's tenant.
func setting(ctx context.Context) string {
	if ctx.Value(allTenants{}) != nil {
		return "*"
	}
	return "t:" + string(store.TenantOf(ctx))
}

type allTenants struct{}

// forAll returns a context for reading the rows of all tenants, for the fleet as a
// whole. No other package can create such a context, and row-level security allows it
// no writes.
func forAll(ctx context.Context) context.Context { return context.WithValue(ctx, allTenants{}, true) }

// settingKey is the key under which a connection caches its tenant setting.
const settingKey = "pawl.tenant"

// prepare sets the connection's tenant to the context's. It queries the server only
// if the connection had another tenant before.
func prepare(ctx context.Context, conn *pgx.Conn) (bool, error) {
	want, known := setting(ctx), conn.PgConn().CustomData()
	if known[settingKey] == want {
		return true, nil
	}
	if t := store.TenantOf(ctx); t != "" && !t.Valid() {
		return true, fault.New(pawl.ErrInvalid, "invalid tenant name %.100q", t)
	}
	delete(known, settingKey)
	if _, err := conn.Exec(ctx, `SELECT set_config('pawl.tenant', $1, false)`, want); err != nil {
		return false, err
	}
	known[settingKey] = want
	return true, nil
}

// CheckTenancy returns ErrDenied unless the server isolates tenants: the role must be
// subject to row-level security, and all tables with a tenant must force it.
func (s *Store) CheckTenancy(ctx context.Context) error {
	var role string
	var bypasses bool
	var open []string
	err := s.pool.QueryRow(ctx, `SELECT current_user, (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
		ARRAY(SELECT relname::text FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
			AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
			AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY relname)`).Scan(&role, &bypasses, &open)
	switch {
	case err != nil:
		return fmt.Errorf("check tenancy: %w", classify(err))
	case bypasses:
		return fault.New(pawl.ErrDenied, "the database role %s is a superuser or has BYPASSRLS and would see the rows of all tenants", role).
			Hint("Connect as a role that is neither and owns the tables: CREATE ROLE pawl LOGIN.")
	case len(open) > 0:
		return fault.New(pawl.ErrDenied, "row-level security is not forced on %s", strings.Join(open, ", ")).Hint("Run ALTER TABLE … ENABLE ROW LEVEL SECURITY and ALTER TABLE … FORCE ROW LEVEL SECURITY.")
	}
	return nil
}
