package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// acquire takes the lease if it is free, expired, or held by @owner or by a process
// that has ended, and returns the owner that it was taken from. The clock is the
// database server's, the only one that all owners share.
const acquire = `INSERT INTO leases AS held (session_id, owner, taken_from, expires)
	VALUES (@id, @owner, '', now() + @ttl)
	ON CONFLICT (session_id) DO UPDATE SET owner = excluded.owner, expires = excluded.expires,
		taken_from = CASE held.owner WHEN excluded.owner THEN '' ELSE held.owner END
	WHERE held.owner IN (@owner, @ended) OR held.expires <= now()
	RETURNING taken_from`

// acquireTries is the maximum number of attempts for a lease that was held and then
// released during the attempt.
const acquireTries = 5

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, id pawl.SessionID, owner store.Owner, ttl time.Duration, ended store.Owner) (store.Owner, error) {
	if owner == "" || ttl <= 0 {
		return "", fault.New(pawl.ErrInvalid, "acquire %s: invalid owner %q or duration %s", id, owner, ttl)
	}
	var holder store.Owner
	for range acquireTries {
		from, err := s.acquire(ctx, id, owner, ttl, ended)
		if err == nil {
			return from, nil
		}
		if errors.Is(err, pgx.ErrNoRows) { // held: read the holder
			err = s.pool.QueryRow(ctx, "SELECT owner FROM leases WHERE session_id = $1", key(id)).Scan(&holder)
			if errors.Is(err, pgx.ErrNoRows) { // released meanwhile
				continue
			}
		}
		if err != nil {
			return "", fmt.Errorf("acquire %s: %w", id, classify(err))
		}
		break
	}
	return "", fmt.Errorf("acquire %s: %w", id, &pawl.BusyError{Session: id, Holder: string(holder)})
}

// acquire returns pgx.ErrNoRows if another owner holds the lease.
func (s *Store) acquire(ctx context.Context, id pawl.SessionID, owner store.Owner, ttl time.Duration, ended store.Owner) (from store.Owner, err error) {
	err = s.pool.QueryRow(ctx, acquire, pgx.StrictNamedArgs{
		"id": key(id), "owner": string(owner), "ttl": ttl, "ended": string(ended),
	}).Scan(&from)
	return from, err
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, id pawl.SessionID, owner store.Owner) error {
	_, err := s.pool.Exec(ctx, "DELETE FROM leases WHERE session_id = $1 AND owner = $2", key(id), string(owner))
	if err != nil {
		return fmt.Errorf("release %s: %w", id, classify(err))
	}
	return nil
}

// Holder implements [store.Leases].
func (s *Store) Holder(ctx context.Context, id pawl.SessionID) (owner store.Owner, err error) {
	err = s.pool.QueryRow(ctx, "SELECT owner FROM leases WHERE session_id = $1 AND expires > now()", key(id)).Scan(&owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("holder of %s: %w", id, classify(err))
	}
	return owner, nil
}
