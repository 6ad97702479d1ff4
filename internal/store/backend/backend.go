// Package backend opens a store by its URL: PostgreSQL or SQLite.
package backend

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
)

// Store is a session store that also keeps the tokens of a server.
type Store interface {
	store.Store
	store.Tokens
}

// Open opens the store that ref names: postgres://… or postgresql://… is a PostgreSQL
// database; sqlite:PATH or just PATH is an SQLite file. Any other scheme is
// ErrInvalid, not taken as a file name.
func Open(ctx context.Context, ref string) (Store, error) {
	path := strings.TrimPrefix(ref, "sqlite:")
	scheme, _, isURL := strings.Cut(ref, "://")
	switch {
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		return opened(postgres.Open(ctx, ref))
	case isURL && !strings.Contains(scheme, "/"):
		return nil, fault.New(pawl.ErrInvalid, "unsupported store %s://…: use postgres://… or a file path", scheme)
	case path == "":
		return nil, fault.New(pawl.ErrInvalid, "the path of the store is empty")
	default:
		return opened(sqlite.Open(ctx, path))
	}
}

// opened returns a nil interface on error instead of an interface that holds a nil
// pointer.
func opened[S Store](s S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
