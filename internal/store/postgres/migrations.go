package postgres

import (
	"context"
	"embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-dev/pawl/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

var _ migrate.Database = schema{}

// schema implements [migrate.Database] on a pool.
type schema struct {
	pool *pgxpool.Pool
}

const selectVersion = `SELECT coalesce(max(version), 0) FROM migrations`

// Version reads the table of applied migrations.
func (s schema) Version(ctx context.Context) (version int, err error) {
	err = s.pool.QueryRow(ctx, selectVersion).Scan(&version)
	if hasCode(err, undefinedTable) {
		return 0, nil
	}
	return version, err
}

// Apply runs a migration. An advisory lock, held until the transaction ends, locks
// out other processes even while there is no table to lock.
func (s schema) Apply(ctx context.Context, m migrate.Migration) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('pawl ' || current_schema(), 0))`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS migrations (
			version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now())`)
		if err != nil {
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, selectVersion).Scan(&version); err != nil || version != m.Version-1 {
			return err
		}
		if _, err := tx.Exec(ctx, m.SQL); err != nil {
			return err
		}
		if m.Name == "migrations/0013_search.sql" {
			if err := indexAll(ctx, tx); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)`, m.Version, m.Name)
		return err
	})
}
