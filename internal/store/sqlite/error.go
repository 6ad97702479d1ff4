package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawl-dev/pawl"
)

// classify gives the driver's errors the classes that callers act on.
func classify(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return pawl.ErrNotFound
	}
	if isBusy(err) { // for as long as busyTimeout
		return fmt.Errorf("%w: %w", pawl.ErrUnavailable, err)
	}
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY { // all of ours lead to sessions
		return pawl.ErrNotFound
	}
	return err
}

// isBusy reports whether another process had the file locked.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
