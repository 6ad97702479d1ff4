package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

const selectPage = `SELECT seq, turn, at, kind, version, body FROM events
	WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`

// Events implements [store.Store].
func (s *Store) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return record.Pages(after, func(after pawl.Seq) ([]pawl.Event, error) {
		page, err := s.page(ctx, id, after)
		if err != nil {
			return nil, fmt.Errorf("read events of %s: %w", id, classify(err))
		}
		return page, nil
	})
}

// page returns the next events. It first reads head from the session's row: if there
// are no new events, that is much cheaper than a query of the partitioned events
// table, which the server plans each time. If the row does not exist, the log was
// deleted, and one that is deleted while it is read must not look complete.
func (s *Store) page(ctx context.Context, id pawl.SessionID, after pawl.Seq) ([]pawl.Event, error) {
	var head pawl.Seq
	if err := s.pool.QueryRow(ctx, "SELECT head FROM sessions WHERE id = $1", key(id)).Scan(&head); err != nil || head <= after {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, selectPage, key(id), int64(after), record.PageSize) // CollectRows returns its error
	page, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (pawl.Event, error) {
		var r record.Row
		if err := row.Scan(&r.Seq, &r.Turn, &r.At, &r.Kind, &r.Version, &r.Data); err != nil {
			return pawl.Event{}, err
		}
		return r.Event(id)
	})
	if err == nil && len(page) == 0 {
		return nil, pgx.ErrNoRows
	}
	return page, err
}
