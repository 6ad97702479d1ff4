package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// reader is a pool of read-only connections. Readers and the writer do not block each
// other (WAL).
type reader struct {
	db                    *sql.DB
	session, page, exists *sql.Stmt
}

func openReader(ctx context.Context, dsn string) (*reader, error) {
	db, err := openDB(dsn, readConnections)
	if err != nil {
		return nil, err
	}
	r := &reader{db: db}
	for stmt, text := range map[**sql.Stmt]string{
		&r.session: selectSession + "WHERE id = ?",
		&r.page:    selectPage,
		&r.exists:  "SELECT 1 FROM sessions WHERE id = ?",
	} {
		if *stmt, err = db.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // closed with db
			return nil, errors.Join(err, db.Close())
		}
	}
	return r, nil
}

// close closes the statements first; see [writer.close].
func (r *reader) close() error {
	return errors.Join(r.session.Close(), r.page.Close(), r.exists.Close(), r.db.Close())
}

const selectPage = `SELECT seq, turn, at, kind, version, body FROM events
	WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`

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

// page returns the next events. At the end of the log it checks that the session
// still exists: a log that is deleted while it is read must not look complete.
func (s *Store) page(ctx context.Context, id pawl.SessionID, after pawl.Seq) ([]pawl.Event, error) {
	if err := single(ctx); err != nil {
		return nil, err
	}
	rows, err := s.read.page.QueryContext(ctx, string(id), int64(after), record.PageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []pawl.Event
	for rows.Next() {
		r, err := scanEvent(rows)
		if err != nil {
			return nil, err
		}
		e, err := r.Event(id)
		if err != nil {
			return nil, err
		}
		page = append(page, e)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(page) == 0 {
		return nil, s.exist(ctx, id)
	}
	return page, nil
}

// exist returns sql.ErrNoRows if the session does not exist.
func (s *Store) exist(ctx context.Context, id pawl.SessionID) error {
	var one int
	if err := single(ctx); err != nil {
		return err
	}
	return s.read.exists.QueryRowContext(ctx, string(id)).Scan(&one)
}
