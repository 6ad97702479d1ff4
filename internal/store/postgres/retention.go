package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Delete implements [store.Store]. Only this file may delete events; a test checks
// the sources for it.
func (s *Store) Delete(ctx context.Context, id pawl.SessionID) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return deleteSession(ctx, tx, id) })
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, classify(err))
	}
	return nil
}

// deleteSession locks the session's row, so that no one can append, and its lease, so
// that no one can acquire it, before it checks the lease.
func deleteSession(ctx context.Context, tx pgx.Tx, id pawl.SessionID) error {
	var one int
	if err := tx.QueryRow(ctx, "SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE", key(id)).Scan(&one); err != nil {
		return err
	}
	var holder store.Owner
	var held bool
	err := tx.QueryRow(ctx, "SELECT owner, expires > now() FROM leases WHERE session_id = $1 FOR UPDATE", key(id)).Scan(&holder, &held)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if held {
		return &pawl.BusyError{Session: id, Holder: string(holder)}
	}
	if _, err := tx.Exec(ctx, "DELETE FROM events WHERE session_id = $1", key(id)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "DELETE FROM sessions WHERE id = $1", key(id)) // drafts, leases, blobs and usage are deleted by cascade
	return err
}
