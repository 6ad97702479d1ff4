// Package postgres keeps the logs in a PostgreSQL database, for sessions that
// several machines share.
//
// An event is durable once Append returns, provided that the server runs with
// fsync and synchronous_commit on, as it does by default.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/migrate"
)

var _ store.Store = (*Store)(nil)

// Store is a [store.Store] in one schema of a database.
type Store struct {
	pool *pgxpool.Pool
	live time.Duration // see liveFor
}

// Open opens the store at a postgres:// URL and brings its schema up to date.
// It lives in the first schema of the connection's search_path. The URL may set
// the pool's bounds (pool_max_conns=…).
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open store: %w: %w", pawl.ErrInvalid, err)
	}
	config.PrepareConn = prepare
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open store: %w: %w", pawl.ErrInvalid, err)
	}
	s := &Store{pool, liveFor}
	if err := migrate.Up(ctx, schema{pool}, migrations); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open store: %w", classify(err))
	}
	return s, nil
}

// Close waits for what is under way and ends the store.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}
