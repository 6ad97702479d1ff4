package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

const selectSession = `SELECT ` + sessionColumns + ` FROM sessions `

const sessionColumns = `id, parent, owner, shared, dir, title, prompt, model, head, turns, turn_open, queued,
	input, output, reasoning, cache_read, cache_write, cost, mission, created, updated,
	agent, mode, last, turn_at, ended, asks`

// columnsOf returns the values of createSession.
func columnsOf(s pawl.Session) ([]any, error) {
	shared, err := sharedText(&s.Shared)
	if err != nil {
		return nil, err
	}
	u := s.Usage
	return []any{string(s.ID), string(s.Parent), string(s.Owner), *shared, s.Dir, s.Title, *words(&s.Title), s.Prompt, *words(&s.Prompt), s.Model,
		int64(s.Head), s.Turns, s.TurnOpen, s.Queued, u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, int64(u.Cost),
		string(s.Mission), s.Created.UnixMicro(), s.Updated.UnixMicro(),
		s.Agent, s.Mode, s.Last, int64(s.TurnAt), string(s.Ended), s.Asks}, nil
}

// sharedText returns the users as their column holds them, a JSON array; nil for nil.
func sharedText(users *[]pawl.User) (*string, error) {
	if users == nil {
		return nil, nil
	}
	text, err := json.Marshal(append([]pawl.User{}, *users...))
	return new(string(text)), err
}

// scanSession reads a row of sessionColumns, and more columns behind them.
func scanSession(row interface{ Scan(...any) error }, more ...any) (pawl.Session, error) {
	var s pawl.Session
	var created, updated int64
	var shared []byte
	u := &s.Usage
	err := row.Scan(append([]any{&s.ID, &s.Parent, &s.Owner, &shared, &s.Dir, &s.Title, &s.Prompt, &s.Model, &s.Head, &s.Turns, &s.TurnOpen, &s.Queued,
		&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.Cost, &s.Mission, &created, &updated,
		&s.Agent, &s.Mode, &s.Last, &s.TurnAt, &s.Ended, &s.Asks}, more...)...)
	if err == nil && string(shared) != "[]" {
		err = json.Unmarshal(shared, &s.Shared)
	}
	s.Created, s.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	return s, err
}

// Session implements [store.Store].
func (s *Store) Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	err := single(ctx)
	var row pawl.Session
	if err == nil {
		row, err = scanSession(s.read.session.QueryRowContext(ctx, string(id)))
	}
	if err != nil {
		err = classify(err)
		if errors.Is(err, pawl.ErrNotFound) {
			return pawl.Session{}, store.NotFound(id)
		}
		return pawl.Session{}, fmt.Errorf("read session %s: %w", id, err)
	}
	return row, nil
}
