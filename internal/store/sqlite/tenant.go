package sqlite

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// single returns ErrInvalid if ctx has a tenant: an SQLite file cannot isolate
// tenants.
func single(ctx context.Context) error {
	if t := store.TenantOf(ctx); t != "" {
		return fault.New(pawl.ErrInvalid, "tenant %s needs a PostgreSQL store: an SQLite store cannot separate tenants", t)
	}
	return nil
}
