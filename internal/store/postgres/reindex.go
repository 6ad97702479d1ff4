package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// indexPage is how many events of an existing log are indexed at a time.
const indexPage = 64

// indexAll indexes the logs of a database that has no index yet. The owner of a table sees
// the tenants of all sessions while row-level security is not forced; events are read and
// indexed as each tenant.
func indexAll(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY`); err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, `SELECT DISTINCT 't:' || tenant FROM sessions`) // CollectRows returns its error
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `ALTER TABLE sessions FORCE ROW LEVEL SECURITY`); err != nil {
		return err
	}
	for _, t := range tenants {
		if _, err := tx.Exec(ctx, `SELECT set_config('pawl.tenant', $1, true)`, t); err != nil {
			return err
		}
		if err := indexTenant(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// indexTenant indexes the logs of one tenant.
func indexTenant(ctx context.Context, tx pgx.Tx) error {
	last := pawl.Event{}
	for {
		page, err := unindexed(ctx, tx, last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			x, err := record.IndexOf(e, undo(ctx, tx, e.Session))
			if err != nil {
				return err
			}
			if x.Empty() {
				continue
			}
			parts, args := indexed(x, 1)
			statement := "WITH moved AS (SELECT), " + strings.Join(parts, ", ") + " SELECT"
			if _, err := tx.Exec(ctx, statement, append([]any{string(e.Session)}, args...)...); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

// unindexed returns the next events that change the index. It leaves out what cannot be
// read: opening that session fails.
func unindexed(ctx context.Context, tx pgx.Tx, after pawl.Event) ([]pawl.Event, error) {
	rows, _ := tx.Query(ctx, `SELECT session_id, seq, turn, at, kind, version, body::text FROM events
		WHERE (session_id, seq) > ($1, $2) AND kind IN `+record.IndexKindList+` AND session_id IN (SELECT id FROM sessions)
		ORDER BY session_id, seq LIMIT $3`, string(after.Session), int64(after.Seq), indexPage) // CollectRows returns its error
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (pawl.Event, error) {
		var id pawl.SessionID
		var r record.Row
		if err := row.Scan(&id, &r.Seq, &r.Turn, &r.At, &r.Kind, &r.Version, &r.Data); err != nil {
			return pawl.Event{}, err
		}
		return record.Readable(id, r), nil
	})
}
