package postgres

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// key is the value of a session's key columns. An id that cannot be one is "",
// which no session has: it is not found, whatever bytes are in it.
func key(id pawl.SessionID) string {
	if !id.Valid() {
		return ""
	}
	return string(id)
}

// PostgreSQL's text cannot hold NUL, but a prompt can (a binary file that was
// piped in). In the columns of a session's row NUL is therefore written as
// SUB "0", and SUB, as rare, as SUB "1"; all other text stays as it is.
var (
	quoter   = strings.NewReplacer("\x00", "\x1a0", "\x1a", "\x1a1")
	unquoter = strings.NewReplacer("\x1a0", "\x00", "\x1a1", "\x1a")
)

// quote returns a text in the form that the columns hold.
func quote(s string) string { return quoter.Replace(s) }

// quoted is quote for the columns of a change; nil for nil.
func quoted(s *string) *string {
	if s == nil {
		return nil
	}
	return new(quote(*s))
}

// unquote turns columns that quote wrote back, in place.
func unquote(columns ...*string) {
	for _, s := range columns {
		*s = unquoter.Replace(*s)
	}
}
