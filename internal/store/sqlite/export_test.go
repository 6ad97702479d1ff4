package sqlite

import (
	"context"
	"database/sql"
	"io/fs"

	"github.com/pawl-dev/pawl/internal/store/migrate"
)

// Conn returns the connection that writes. Nothing else may use the store meanwhile.
func (s *Store) Conn() *sql.Conn { return s.write.conn }

// Readers returns the connections that read.
func (s *Store) Readers() *sql.DB { return s.read.db }

// InsertEvent is the statement that adds an event.
const InsertEvent = insertEvent

// Migrate applies other migrations than the store's own.
func (s *Store) Migrate(ctx context.Context, files fs.FS) error {
	return migrate.Up(ctx, s.write, files)
}
