package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// The statements of Append. The first three compare the head that the writer has
// seen, and change no row if it has moved.
//
// advanceSession is for events within a turn, which are nearly all: SQLite rewrites
// an index entry whenever one of its columns is assigned.
const (
	createSession = `INSERT INTO sessions (id, parent, owner, shared, dir, title, title_words, prompt, prompt_words, model,
		head, turns, turn_open, queued, input, output, reasoning, cache_read, cache_write, cost, mission, created, updated,
		agent, mode, last, turn_at, ended, asks)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`

	changeSession = `UPDATE sessions SET
		shared = coalesce(?, shared), title = coalesce(?, title), title_words = coalesce(?, title_words),
		prompt = iif(prompt = '', coalesce(?, prompt), prompt),
		prompt_words = iif(prompt = '', coalesce(?, prompt_words), prompt_words),
		model = coalesce(?, model), turns = turns + ?, turn_open = coalesce(?, turn_open), queued = queued + ?,
		mission = coalesce(?, mission), updated = coalesce(?, updated), agent = coalesce(?, agent), mode = coalesce(?, mode),
		turn_at = coalesce(?, turn_at), ended = coalesce(?, ended), asks = iif(?, 0, asks) + ?,` + advance

	advanceSession = `UPDATE sessions SET ` + advance

	advance = ` last = coalesce(?, last), input = input + ?, output = output + ?, reasoning = reasoning + ?, cache_read = cache_read + ?,
		cache_write = cache_write + ?, cost = cost + ?, head = ? WHERE id = ? AND head = ?`

	// Add to an existing row.
	addUsage = `INSERT INTO usage_days (session_id, day, model, agent, replies, input, output, reasoning, cache_read, cache_write, cost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET replies = replies + excluded.replies, input = input + excluded.input,
		output = output + excluded.output, reasoning = reasoning + excluded.reasoning, cache_read = cache_read + excluded.cache_read,
		cache_write = cache_write + excluded.cache_write, cost = cost + excluded.cost`

	insertEvent = `INSERT INTO events (session_id, seq, turn, at, kind, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)`
)

// Append implements [store.Store]. It also returns ErrConflict if the session does
// not exist, or no longer: the writer's view of it is out of date.
func (s *Store) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	batch, err := record.NewBatch(id, after, events, undo(ctx, s.read.db.QueryRowContext, id))
	if err == nil {
		commit := s.write.passing
		if slices.ContainsFunc(batch.Events, func(e pawl.Event) bool { return store.NeedsSync(e.Body) }) {
			commit = s.write.transaction
		}
		err = commit(ctx, func(ctx context.Context) error {
			return s.write.append(ctx, id, after, batch)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("append to %s: %w", id, classify(err))
	}
	return batch.Events, nil
}

func (w *writer) append(ctx context.Context, id pawl.SessionID, after pawl.Seq, batch record.Batch) error {
	moved, err := w.moveSession(ctx, id, after, batch)
	if err != nil {
		return err
	}
	if n, err := moved.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return pawl.ErrConflict
	}
	for _, r := range batch.Rows {
		_, err := w.insert.ExecContext(ctx, string(id), int64(r.Seq), r.Turn, r.At.UnixMicro(), string(r.Kind), r.Version, string(r.Data))
		if err != nil {
			return err
		}
	}
	if err := w.index(ctx, id, batch.Index); err != nil {
		return err
	}
	for _, r := range batch.Usage {
		u := r.Usage
		_, err := w.use.ExecContext(ctx, string(id), r.Day, r.Model, r.Agent, r.Replies,
			u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, int64(u.Cost))
		if err != nil {
			return err
		}
	}
	return nil
}

// moveSession moves the head of the session's row from after to the end of the batch.
// If it affects no row, another writer was first.
func (w *writer) moveSession(ctx context.Context, id pawl.SessionID, after pawl.Seq, batch record.Batch) (sql.Result, error) {
	c := batch.Change
	head := after + pawl.Seq(len(batch.Rows))
	if after == 0 {
		row := pawl.Session{ID: id, Head: head}
		c.Apply(&row)
		columns, err := columnsOf(row)
		if err != nil {
			return nil, err
		}
		return w.create.ExecContext(ctx, columns...)
	}
	tail := []any{c.Last, c.Usage.Input, c.Usage.Output, c.Usage.Reasoning, c.Usage.CacheRead, c.Usage.CacheWrite, int64(c.Usage.Cost),
		int64(head), string(id), int64(after)}
	if c == (store.Change{Usage: c.Usage, Last: c.Last}) {
		return w.advance.ExecContext(ctx, tail...)
	}
	var updated *int64
	if c.Updated != nil {
		updated = new(c.Updated.UnixMicro())
	}
	shared, err := sharedText(c.Shared)
	if err != nil {
		return nil, err
	}
	return w.change.ExecContext(ctx, append([]any{
		shared, c.Title, words(c.Title), c.Prompt, words(c.Prompt), c.Model, c.Turns, c.TurnOpen, c.Queued, c.Mission, updated,
		c.Agent, c.Mode, (*int64)(c.TurnAt), c.Ended, c.NoAsks, c.Asks}, tail...)...)
}

// words returns the search words of a text as its column holds them; nil for nil.
func words(text *string) *string {
	if text == nil {
		return nil
	}
	return new(strings.Join(record.Words(*text), " "))
}
