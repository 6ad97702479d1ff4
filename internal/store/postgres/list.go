package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// Sessions implements [store.Store].
func (s *Store) Sessions(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error) {
	l, err := record.NewList(ctx, f)
	var all []record.Placed
	switch {
	case err != nil:
	case l.Search != nil:
		all, err = s.search(ctx, l)
	default:
		query, args := list(l)
		rows, _ := s.pool.Query(ctx, query, args...) // CollectRows returns its error
		all, err = pgx.CollectRows(rows, scanPlaced)
	}
	if err != nil {
		return pawl.SessionPage{}, fmt.Errorf("list sessions: %w", classify(err))
	}
	return l.Page(all), nil
}

func scanPlaced(row pgx.CollectableRow) (p record.Placed, err error) {
	p.Session, err = scanColumns(row, &p.At, &p.Match)
	return p, err
}

const newestFirst = " ORDER BY place DESC, id DESC LIMIT "

// list returns the query for a page and one row more.
func list(l record.List) (query string, args []any) {
	arg := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args))
	}
	where, limit := conditions(l.Filter, arg), arg(l.Limit+1)
	from, matched := "sessions", "0::bigint"
	if l.Search != nil {
		from, matched = "sessions JOIN "+fmt.Sprintf(found, phrases(l.Search, arg))+" ON session_id = sessions.id", "matched"
	}
	rows := func(place, more string) string {
		return "SELECT " + sessionColumns + ", " + place + " AS place, " + matched + " AS matched FROM " + from + " WHERE " + where + more
	}
	if l.After == nil {
		return rows("updated", "") + " ORDER BY updated DESC, id DESC LIMIT " + limit, args
	}
	start, at, id := arg(l.After.Start), arg(l.After.At), arg(string(l.After.ID))
	before := fmt.Sprintf("(%s, %s)", at, id)
	// A row that was updated since the list started has the place that it had then.
	moved := `(SELECT at FROM events WHERE session_id = sessions.id AND at <= ` + start + ` AND kind NOT IN ` + record.QuietKinds + `
		ORDER BY seq DESC LIMIT 1)`
	return "(" + rows("updated", " AND (updated, id) < "+before) + " ORDER BY updated DESC, id DESC LIMIT " + limit + ")" +
		" UNION ALL SELECT * FROM (" + rows(moved, " AND updated > "+start) + ") m WHERE (place, id) < " + before + newestFirst + limit, args
}

// conditions returns the WHERE clause for a filter. arg adds a parameter.
func conditions(f pawl.Filter, arg func(any) string) string {
	var where []string
	pick := func(condition string) { where = append(where, condition) }
	if f.Asking {
		pick("asks > 0")
	} else {
		pick("parent = " + arg(quote(string(f.Parent))))
	}
	for _, c := range record.Exact(f) {
		pick(c[0] + " = " + arg(quote(c[1])))
	}
	if f.Owner != nil {
		owner := arg(quote(string(*f.Owner)))
		if f.Shared {
			pick("id IN (SELECT id FROM sessions WHERE owner = " + owner + " UNION ALL SELECT session_id FROM session_readers WHERE reader = " + owner + ")")
		} else {
			pick("owner = " + owner)
		}
	}
	if f.State != "" {
		pick(record.States[f.State])
	}
	if f.Unfinished {
		pick("(turn_open OR queued > 0)")
	}
	if f.Missions {
		pick("mission <> ''")
	}
	if !f.Before.IsZero() {
		pick("updated < " + arg(f.Before))
	}
	for _, word := range store.SearchWords(f.Query) {
		// A prefix match that an index can serve: words consist of letters and
		// digits, which sort before U+10FFFF.
		w := arg(word) + "::text"
		pick("id IN (SELECT session_id FROM session_words WHERE word >= " + w + " AND word < " + w + " || '\U0010FFFF')")
	}
	return strings.Join(where, " AND ")
}
