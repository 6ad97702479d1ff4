package sqlite

import (
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// classify maps errors of the driver to the error classes of package pawl.
func classify(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return pawl.ErrNotFound
	}
	if isBusy(err) { // for longer than busyTimeout
		return fault.New(pawl.ErrUnavailable, "the database is locked by another process: %w", err)
	}
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY { // all our foreign keys refer to sessions
		return pawl.ErrNotFound
	}
	return err
}

// isBusy reports whether the file was locked by another process.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
