package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// Sessions implements [store.Store].
func (s *Store) Sessions(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error) {
	l, err := record.NewList(ctx, f)
	var rows []record.Placed
	if err == nil {
		rows, err = s.list(ctx, l)
	}
	if err == nil && l.Search != nil {
		err = s.addMatches(ctx, l, rows)
	}
	if err != nil {
		return pawl.SessionPage{}, fmt.Errorf("list sessions: %w", classify(err))
	}
	return l.Page(rows), nil
}

func (s *Store) list(ctx context.Context, l record.List) ([]record.Placed, error) {
	if err := single(ctx); err != nil {
		return nil, err
	}
	query, args := list(l)
	rows, err := s.read.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []record.Placed
	for rows.Next() {
		var at int64
		var match pawl.Seq
		row, err := scanSession(rows, &at, &match)
		if err != nil {
			return nil, err
		}
		all = append(all, record.Placed{Session: row, At: time.UnixMicro(at).UTC(), Match: match})
	}
	return all, rows.Err()
}

const newestFirst = " ORDER BY place DESC, id DESC LIMIT "

// list returns the query for a page and one row more.
func list(l record.List) (query string, args []any) {
	arg := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("?%d", len(args))
	}
	where, limit := conditions(l.Filter, arg), arg(l.Limit+1)
	from, matched := "sessions", "0"
	if l.Search != nil {
		from, matched = "sessions JOIN "+fmt.Sprintf(found, arg(match(l.Search)))+" ON session_id = sessions.id", "matched"
	}
	rows := func(place, more string) string {
		return "SELECT " + sessionColumns + ", " + place + " AS place, " + matched + " FROM " + from + " WHERE " + where + more
	}
	if l.After == nil {
		return rows("updated", "") + newestFirst + limit, args
	}
	start, at, id := arg(l.After.Start.UnixMicro()), arg(l.After.At.UnixMicro()), arg(string(l.After.ID))
	before := fmt.Sprintf("(place, id) < (%s, %s)", at, id)
	// A row that was updated since the list started has the place that it had then.
	moved := `(SELECT at FROM events WHERE session_id = sessions.id AND at <= ` + start + ` AND kind NOT IN ` + record.QuietKinds + `
		ORDER BY seq DESC LIMIT 1)`
	return "SELECT * FROM (" + rows("updated", fmt.Sprintf(" AND (updated, id) < (%s, %s)", at, id)) + newestFirst + limit + ")" +
		" UNION ALL SELECT * FROM (" + rows(moved, " AND updated > "+start) + ") WHERE " + before + newestFirst + limit, args
}

// conditions returns the WHERE clause for a filter. arg adds a parameter.
func conditions(f pawl.Filter, arg func(any) string) string {
	var where []string
	pick := func(condition string) { where = append(where, condition) }
	if f.Asking {
		pick("asks > 0")
	} else {
		pick("parent = " + arg(string(f.Parent)))
	}
	for _, c := range record.Exact(f) {
		pick(c[0] + " = " + arg(c[1]))
	}
	if f.Owner != nil {
		owner := arg(string(*f.Owner))
		if f.Shared {
			pick("(owner = " + owner + " OR EXISTS (SELECT 1 FROM json_each(shared) WHERE value = " + owner + "))")
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
		pick("updated < " + arg(f.Before.UnixMicro()))
	}
	for _, word := range store.SearchWords(f.Query) {
		pick("instr(' ' || title_words || ' ' || prompt_words, " + arg(" "+word) + ")")
	}
	return strings.Join(where, " AND ")
}
