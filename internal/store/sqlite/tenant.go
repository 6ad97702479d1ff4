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
		return fault.New(pawl.ErrInvalid, "an SQLite file cannot keep the sessions of tenant %s apart, use PostgreSQL", t)
	}
	return nil
}
