package sqlite

import (
	"context"
	"embed"
	"fmt"

	"github.com/pawl-dev/pawl/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

var _ migrate.Database = (*writer)(nil)

// Version reads user_version from the file's header, the cheapest query at startup.
func (w *writer) Version(ctx context.Context) (version int, err error) {
	err = w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// Apply runs a migration. The version in the header is part of the transaction.
func (w *writer) Apply(ctx context.Context, m migrate.Migration) error {
	return w.transaction(ctx, func(ctx context.Context) error {
		version, err := w.Version(ctx)
		if err != nil || version != m.Version-1 {
			return err
		}
		if _, err := w.conn.ExecContext(ctx, m.SQL); err != nil {
			return err
		}
		if m.Name == "migrations/0007_search.sql" {
			if err := w.indexAll(ctx); err != nil {
				return err
			}
		}
		_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", m.Version))
		return err
	})
}
