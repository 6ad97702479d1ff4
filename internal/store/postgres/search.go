package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// The parts of an append that change the search index. Their own parameters are arrays.
const (
	addTexts = `INSERT INTO search_texts (session_id, seq, message, words, lexemes)
		SELECT $1, t.seq, t.message, ' ' || t.words || ' ', array_to_tsvector(string_to_array(t.words, ' ') || ('t:' || pawl_tenant()))
		FROM moved, unnest($%d::bigint[], $%d::bigint[], $%d::text[]) AS t (seq, message, words)`

	hideTexts = `INSERT INTO search_hidden (session_id, hidden_by, first, last)
		SELECT $1, h.* FROM moved, unnest($%d::bigint[], $%d::bigint[], $%d::bigint[]) AS h`

	showTexts = `DELETE FROM search_hidden USING moved WHERE session_id = $1 AND hidden_by = ANY($%d::bigint[])`
)

// indexed returns the parts of an append that change the search index, and their
// parameters, which follow the first n.
func indexed(x record.Index, n int) (parts []string, args []any) {
	part := func(name, text string, columns ...any) {
		numbers := make([]any, len(columns))
		for i := range columns {
			numbers[i] = n + len(args) + i + 1
		}
		parts, args = append(parts, name+" AS ("+fmt.Sprintf(text, numbers...)+")"), append(args, columns...)
	}
	if len(x.Texts) > 0 {
		var seqs, messages []int64
		var words []string
		for _, t := range x.Texts {
			seqs, messages, words = append(seqs, int64(t.Seq)), append(messages, int64(t.Message)), append(words, t.Words)
		}
		part("texts", addTexts, seqs, messages, words)
	}
	if len(x.Hidden) > 0 {
		var by, first, last []int64
		for _, h := range x.Hidden {
			by, first, last = append(by, int64(h.By)), append(first, int64(h.First)), append(last, int64(h.Last))
		}
		part("hidden", hideTexts, by, first, last)
	}
	if len(x.Shown) > 0 {
		part("shown", showTexts, x.Shown)
	}
	return parts, args
}

// found selects the newest text of each session that the search of the transaction
// finds. It takes conditions for phrases. The first condition is for a role without
// row-level security.
const found = `(SELECT session_id, max(seq) AS matched FROM search_texts t
	WHERE lexemes @@ pawl_search() AND NOT EXISTS (SELECT 1 FROM search_hidden h
		WHERE h.session_id = t.session_id AND t.message BETWEEN h.first AND h.last AND t.seq < h.hidden_by)%s
	GROUP BY session_id) f`

// match returns a search as a tsquery. Its words are letters and digits.
func match(s record.Search) string {
	var words []string
	for _, p := range s {
		for i, w := range p.Words {
			text := "'" + w + "'"
			if p.Prefix && i == len(p.Words)-1 {
				text += ":*"
			}
			words = append(words, text)
		}
	}
	return strings.Join(words, " & ")
}

// phrases returns the conditions of the phrases of several words. arg adds a parameter.
func phrases(s record.Search, arg func(any) string) string {
	var b strings.Builder
	for _, p := range s {
		if len(p.Words) == 1 {
			continue
		}
		text := " " + strings.Join(p.Words, " ")
		if !p.Prefix {
			text += " "
		}
		b.WriteString(" AND strpos(words, " + arg(text) + ") > 0")
	}
	return b.String()
}

// search reads the rows of a page that match a search, with snippets.
func (s *Store) search(ctx context.Context, l record.List) (rows []record.Placed, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT set_config('pawl.search', $1, true)`, match(l.Search)); err != nil {
			return err
		}
		query, args := list(l)
		found, _ := tx.Query(ctx, query, args...) // CollectRows returns its error
		rows, err = pgx.CollectRows(found, scanPlaced)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, s.addMatches(ctx, l, rows)
}

// addMatches adds the snippets of a page's rows. A session that was deleted in the
// meantime has none.
func (s *Store) addMatches(ctx context.Context, l record.List, rows []record.Placed) error {
	var ids []string
	var seqs []int64
	for _, r := range rows[:min(len(rows), l.Limit)] {
		ids, seqs = append(ids, string(r.ID)), append(seqs, int64(r.Match))
	}
	events, _ := s.pool.Query(ctx, `SELECT n, seq, turn, at, kind, version, body::text
		FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS m (session_id, seq, n) JOIN events USING (session_id, seq)`, ids, seqs)
	var n int
	var r record.Row
	_, err := pgx.ForEachRow(events, []any{&n, &r.Seq, &r.Turn, &r.At, &r.Kind, &r.Version, &r.Data}, func() error {
		e, err := r.Event(rows[n-1].ID)
		if err == nil {
			record.Found(&rows[n-1].Session, l.Search, e)
		}
		return err
	})
	return err
}

// queryer is a pool or a transaction.
type queryer interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// undo returns a function that returns the request of an UndoAsked event.
func undo(ctx context.Context, db queryer, id pawl.SessionID) func(pawl.Seq) (pawl.Undo, error) {
	return func(seq pawl.Seq) (pawl.Undo, error) {
		var r record.Row
		err := db.QueryRow(ctx, `SELECT kind, version, body::text FROM events WHERE session_id = $1 AND seq = $2`, key(id), int64(seq)).
			Scan(&r.Kind, &r.Version, &r.Data)
		if errors.Is(err, pgx.ErrNoRows) {
			return record.NoUndo, nil
		}
		if err != nil {
			return pawl.Undo{}, err
		}
		return record.UndoIn(r)
	}
}
