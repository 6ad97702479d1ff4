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

// page returns the next events. That none exist is seen in the session's row,
// which costs a fraction: a server plans anew for events each time, as they are in
// many tables. And if there is no row the log no longer exists: one deleted in mid-read must
// not pass for a whole one.
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
