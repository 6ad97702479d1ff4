// Package postgres stores session logs in a PostgreSQL database, for sessions that
// several machines share.
//
// An event is durable once Append returns, provided that the server runs with fsync
// and synchronous_commit on, as it does by default.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/migrate"
)

var _ store.Store = (*Store)(nil)

// Store implements [store.Store] in one schema of a database.
type Store struct {
	pool *pgxpool.Pool
	live time.Duration // see liveFor
}

// Open opens the store at a postgres:// URL and migrates its schema, the first one of
// the connection's search_path. The URL can set the limits of the pool
// (pool_max_conns=…).
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "open store: %w", err)
	}
	config.PrepareConn = prepare
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "open store: %w", err)
	}
	s := &Store{pool, liveFor}
	if err := migrate.Up(ctx, schema{pool}, migrations); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open store: %w", classify(err))
	}
	return s, nil
}

// Close waits for running queries and closes the pool.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}
