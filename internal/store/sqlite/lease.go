package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Acquire implements [store.Leases]. It uses the local clock: all processes that use
// the file run on this machine.
func (s *Store) Acquire(ctx context.Context, id pawl.SessionID, owner store.Owner, ttl time.Duration, ended store.Owner) (from store.Owner, err error) {
	if owner == "" || ttl <= 0 {
		return "", fault.New(pawl.ErrInvalid, "acquire %s: invalid owner %q or duration %s", id, owner, ttl)
	}
	err = s.write.passing(ctx, func(ctx context.Context) error {
		now := time.Now()
		held, err := s.write.lease(ctx, id)
		if err != nil {
			return err
		}
		if held.Owner != owner {
			if held.Owner != ended && held.Expires.After(now) {
				return &pawl.BusyError{Session: id, Holder: string(held.Owner)}
			}
			from = held.Owner
		}
		_, err = s.write.conn.ExecContext(ctx, `INSERT INTO leases (session_id, owner, expires) VALUES (?, ?, ?)
			ON CONFLICT (session_id) DO UPDATE SET owner = excluded.owner, expires = excluded.expires`,
			string(id), string(owner), now.Add(ttl).UnixMicro())
		return err
	})
	if err != nil {
		return "", fmt.Errorf("acquire %s: %w", id, classify(err))
	}
	return from, nil
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, id pawl.SessionID, owner store.Owner) error {
	err := s.write.passing(ctx, func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(ctx, "DELETE FROM leases WHERE session_id = ? AND owner = ?", string(id), string(owner))
		return err
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", id, classify(err))
	}
	return nil
}

// Holder implements [store.Leases].
func (s *Store) Holder(ctx context.Context, id pawl.SessionID) (owner store.Owner, err error) {
	if err = single(ctx); err == nil {
		err = s.read.db.QueryRowContext(ctx, "SELECT owner FROM leases WHERE session_id = ? AND expires > ?", string(id), time.Now().UnixMicro()).Scan(&owner)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("holder of %s: %w", id, classify(err))
	}
	return owner, nil
}

// lease returns the session's lease, expired or not. It is the zero Lease if nobody
// has taken it.
func (w *writer) lease(ctx context.Context, id pawl.SessionID) (store.Lease, error) {
	var l store.Lease
	var expires int64
	err := w.conn.QueryRowContext(ctx, "SELECT owner, expires FROM leases WHERE session_id = ?", string(id)).Scan(&l.Owner, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Lease{}, nil
	}
	l.Expires = time.UnixMicro(expires)
	return l, err
}
