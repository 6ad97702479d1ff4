package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

const (
	insertText  = `INSERT INTO search_texts (session_id, seq, message) VALUES (?, ?, ?)`
	insertWords = `INSERT INTO search_words (rowid, words) VALUES (last_insert_rowid(), ?)`
	hideTexts   = `INSERT INTO search_hidden (session_id, hidden_by, first, last) VALUES (?, ?, ?, ?)`
	showTexts   = `DELETE FROM search_hidden WHERE session_id = ? AND hidden_by = ?`

	selectEvent = `SELECT seq, turn, at, kind, version, body FROM events WHERE session_id = ? AND seq = ?`

	// found takes the query of search_words.
	found = `(SELECT session_id, max(seq) AS matched FROM search_words JOIN search_texts t ON t.id = search_words.rowid
		WHERE search_words MATCH %s AND NOT EXISTS (SELECT 1 FROM search_hidden h
			WHERE h.session_id = t.session_id AND t.message BETWEEN h.first AND h.last AND t.seq < h.hidden_by)
		GROUP BY session_id)`
)

// index changes the search index.
func (w *writer) index(ctx context.Context, id pawl.SessionID, x record.Index) error {
	for _, t := range x.Texts {
		if _, err := w.text.ExecContext(ctx, string(id), int64(t.Seq), int64(t.Message)); err != nil {
			return err
		}
		if _, err := w.words.ExecContext(ctx, t.Words); err != nil {
			return err
		}
	}
	for _, h := range x.Hidden {
		if _, err := w.conn.ExecContext(ctx, hideTexts, string(id), int64(h.By), int64(h.First), int64(h.Last)); err != nil {
			return err
		}
	}
	for _, by := range x.Shown {
		if _, err := w.conn.ExecContext(ctx, showTexts, string(id), int64(by)); err != nil {
			return err
		}
	}
	return nil
}

// match returns a search as a query of search_words. Its words are letters and digits.
func match(s record.Search) string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(`"` + strings.Join(p.Words, " ") + `"`)
		if p.Prefix {
			b.WriteByte('*')
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// row is what a query for one event returns.
type row interface{ Scan(values ...any) error }

func scanEvent(from row) (record.Row, error) {
	var r record.Row
	var at int64
	err := from.Scan(&r.Seq, &r.Turn, &at, &r.Kind, &r.Version, &r.Data)
	r.At = time.UnixMicro(at)
	return r, err
}

// undo returns a function that returns the request of an UndoAsked event.
func undo(ctx context.Context, query func(context.Context, string, ...any) *sql.Row, id pawl.SessionID) func(pawl.Seq) (pawl.Undo, error) {
	return func(seq pawl.Seq) (pawl.Undo, error) {
		r, err := scanEvent(query(ctx, selectEvent, string(id), int64(seq)))
		if errors.Is(err, sql.ErrNoRows) {
			return record.NoUndo, nil
		}
		if err != nil {
			return pawl.Undo{}, err
		}
		return record.UndoIn(r)
	}
}

// addMatches adds the snippets of a page's rows.
func (s *Store) addMatches(ctx context.Context, l record.List, rows []record.Placed) error {
	for i := range rows[:min(len(rows), l.Limit)] {
		r, err := scanEvent(s.read.db.QueryRowContext(ctx, selectEvent, string(rows[i].ID), int64(rows[i].Match)))
		if errors.Is(err, sql.ErrNoRows) { // it was deleted in the meantime
			continue
		}
		if err != nil {
			return err
		}
		e, err := r.Event(rows[i].ID)
		if err != nil {
			return err
		}
		record.Found(&rows[i].Session, l.Search, e)
	}
	return nil
}

// indexPage is how many events of an existing log are indexed at a time.
const indexPage = 64

// indexAll indexes the logs of a file that has no index yet. The statements of Append are
// not prepared at this time.
func (w *writer) indexAll(ctx context.Context) (err error) {
	if err := w.prepareAll(ctx, map[**sql.Stmt]string{&w.text: insertText, &w.words: insertWords}); err != nil {
		return err
	}
	for last := int64(0); ; {
		page, next, err := w.unindexed(ctx, last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			x, err := record.IndexOf(e, undo(ctx, w.conn.QueryRowContext, e.Session))
			if err != nil {
				return err
			}
			if err := w.index(ctx, e.Session, x); err != nil {
				return err
			}
		}
		last = next
	}
}

// unindexed returns the next events that change the index, in the order of their rowids,
// and the last rowid. It leaves out what cannot be read: opening that session fails.
func (w *writer) unindexed(ctx context.Context, after int64) (page []pawl.Event, last int64, err error) {
	rows, err := w.conn.QueryContext(ctx, `SELECT rowid, session_id, seq, turn, at, kind, version, body FROM events
		WHERE rowid > ? AND kind IN `+record.IndexKindList+` AND session_id IN (SELECT id FROM sessions) ORDER BY rowid LIMIT ?`, after, indexPage)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id pawl.SessionID
		r, err := scanEvent(prefixed{rows, []any{&last, &id}})
		if err != nil {
			return nil, 0, err
		}
		page = append(page, record.Readable(id, r))
	}
	return page, last, rows.Err()
}

// prefixed scans columns before those of another scan.
type prefixed struct {
	row
	first []any
}

func (p prefixed) Scan(values ...any) error { return p.row.Scan(append(p.first, values...)...) }
