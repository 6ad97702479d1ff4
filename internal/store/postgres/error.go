package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-dev/pawl"
)

// The server's codes that mean something to us.
const (
	foreignKeyViolation   = "23503"
	serializationFailure  = "40001"
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	tooManyConnections    = "53300"
)

// classify gives the driver's errors the classes that callers act on.
func classify(err error) error {
	var e *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return pawl.ErrNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case connectionFailed(err):
		return fmt.Errorf("%w: %w", pawl.ErrUnavailable, err)
	case !errors.As(err, &e):
		return err
	case anothers(err):
		return pawl.ErrNotFound
	case e.Code == foreignKeyViolation: // all of our foreign keys lead to sessions
		return pawl.ErrNotFound
	case e.Code == serializationFailure: // where the server's isolation is stricter than we need
		return pawl.ErrConflict
	case e.Code == tooManyConnections, strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"):
		return fmt.Errorf("%w: %w", pawl.ErrUnavailable, err) // the server is going or coming
	}
	return err
}

// connectionFailed reports whether the server could not be reached, or was lost
// on the way. What was asked of it may then have taken place all the same.
func connectionFailed(err error) bool {
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// anothers reports whether the server refused a row because it is another
// tenant's. To who asks it does not exist. The code alone may also mean that the
// role has no rights; the message may be in any language.
func anothers(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == insufficientPrivilege && e.Routine == "ExecWithCheckOptions"
}

func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}
