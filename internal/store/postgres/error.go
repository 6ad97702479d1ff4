package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// SQLSTATE codes that classify knows.
const (
	foreignKeyViolation   = "23503"
	serializationFailure  = "40001"
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	tooManyConnections    = "53300"
)

// classify maps errors of the driver to the error classes of package pawl.
func classify(err error) error {
	var e *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return pawl.ErrNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case connectionFailed(err):
		return fault.New(pawl.ErrUnavailable, "database unreachable: %w", err)
	case !errors.As(err, &e):
		return err
	case anothers(err):
		return pawl.ErrNotFound
	case e.Code == foreignKeyViolation: // all our foreign keys refer to sessions
		return pawl.ErrNotFound
	case e.Code == serializationFailure: // if the server's isolation level is stricter than needed
		return pawl.ErrConflict
	case e.Code == tooManyConnections, strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"):
		return fault.New(pawl.ErrUnavailable, "database unavailable: %w", err) // the server is starting or shutting down
	}
	return err
}

// connectionFailed reports whether the server could not be reached or the connection
// was lost. In the latter case the statement may have been executed.
func connectionFailed(err error) bool {
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// anothers reports whether row-level security rejected a row because it belongs to
// another tenant; for the caller it does not exist. The code alone may also mean that
// the role lacks privileges, and the message may be in any language, so the routine
// is checked.
func anothers(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == insufficientPrivilege && e.Routine == "ExecWithCheckOptions"
}

func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}
