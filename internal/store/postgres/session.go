package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

const selectSession = `SELECT id, parent, owner, shared, dir, title, prompt, model, head, turns, turn_open, queued,
	input, output, reasoning, cache_read, cache_write, cost, mission, created, updated,
	agent, mode, last, turn_at, ended, asks FROM sessions `

// scanSession reads a row of selectSession.
func scanSession(row pgx.CollectableRow) (pawl.Session, error) {
	var s pawl.Session
	var shared []string
	u := &s.Usage
	err := row.Scan(&s.ID, &s.Parent, &s.Owner, &shared, &s.Dir, &s.Title, &s.Prompt, &s.Model, &s.Head, &s.Turns, &s.TurnOpen, &s.Queued,
		&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.Cost, &s.Mission, &s.Created, &s.Updated,
		&s.Agent, &s.Mode, &s.Last, &s.TurnAt, &s.Ended, &s.Asks)
	for _, u := range shared {
		unquote(&u)
		s.Shared = append(s.Shared, pawl.User(u))
	}
	unquote((*string)(&s.Parent), (*string)(&s.Owner), &s.Dir, &s.Title, &s.Prompt, &s.Model, &s.Agent, &s.Mode, &s.Last, (*string)(&s.Ended))
	s.Created, s.Updated = s.Created.UTC(), s.Updated.UTC()
	return s, err
}

// Session implements [store.Store].
func (s *Store) Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	rows, _ := s.pool.Query(ctx, selectSession+"WHERE id = $1", key(id)) // CollectExactlyOneRow returns its error
	row, err := pgx.CollectExactlyOneRow(rows, scanSession)
	if err != nil {
		err = classify(err)
		if errors.Is(err, pawl.ErrNotFound) {
			return pawl.Session{}, store.NotFound(id)
		}
		return pawl.Session{}, fmt.Errorf("read session %s: %w", id, err)
	}
	return row, nil
}

// Sessions implements [store.Store].
func (s *Store) Sessions(ctx context.Context, f pawl.Filter) ([]pawl.Session, error) {
	query, args := list(record.Filter(f))
	rows, _ := s.pool.Query(ctx, query, args...) // CollectRows returns its error
	sessions, err := pgx.CollectRows(rows, scanSession)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", classify(err))
	}
	return sessions, nil
}

// list returns the query for a filter.
func list(f pawl.Filter) (query string, args []any) {
	var where []string
	pick := func(condition string, value any) {
		args = append(args, value)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if f.Asking {
		where = append(where, "asks > 0")
	} else {
		pick("parent = $%d", quote(string(f.Parent)))
	}
	if f.Dir != "" {
		pick("dir = $%d", quote(f.Dir))
	}
	switch {
	case f.Owner == nil:
	case f.Shared:
		pick("id IN (SELECT id FROM sessions WHERE owner = $%[1]d UNION ALL SELECT session_id FROM session_readers WHERE reader = $%[1]d)",
			quote(string(*f.Owner)))
	default:
		pick("owner = $%d", quote(string(*f.Owner)))
	}
	if f.Unfinished {
		where = append(where, "(turn_open OR queued > 0)")
	}
	if f.Missions {
		where = append(where, "mission <> ''")
	}
	if !f.Before.IsZero() {
		pick("updated < $%d", f.Before)
	}
	for _, word := range store.SearchWords(f.Query) {
		// A prefix match that an index can serve: words consist of letters and
		// digits, which sort before U+10FFFF.
		pick("id IN (SELECT session_id FROM session_words WHERE word >= $%[1]d::text AND word < $%[1]d::text || '\U0010FFFF')", word)
	}
	args = append(args, f.Limit)
	return fmt.Sprintf("%s WHERE %s ORDER BY updated DESC, id DESC LIMIT $%d", selectSession, strings.Join(where, " AND "), len(args)), args
}
