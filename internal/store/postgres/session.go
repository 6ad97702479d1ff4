package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

const selectSession = `SELECT ` + sessionColumns + ` FROM sessions `

const sessionColumns = `id, parent, owner, shared, dir, title, prompt, model, head, turns, turn_open, queued,
	input, output, reasoning, cache_read, cache_write, cost, mission, created, updated,
	agent, mode, last, turn_at, ended, asks`

// scanSession reads a row of selectSession.
func scanSession(row pgx.CollectableRow) (pawl.Session, error) { return scanColumns(row) }

// scanColumns reads a row of sessionColumns, and more columns behind them.
func scanColumns(row pgx.CollectableRow, more ...any) (pawl.Session, error) {
	var s pawl.Session
	var shared []string
	u := &s.Usage
	err := row.Scan(append([]any{&s.ID, &s.Parent, &s.Owner, &shared, &s.Dir, &s.Title, &s.Prompt, &s.Model, &s.Head, &s.Turns, &s.TurnOpen, &s.Queued,
		&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.Cost, &s.Mission, &s.Created, &s.Updated,
		&s.Agent, &s.Mode, &s.Last, &s.TurnAt, &s.Ended, &s.Asks}, more...)...)
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
