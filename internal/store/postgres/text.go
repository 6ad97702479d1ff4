package postgres

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// key returns an ID as the key columns hold it. An invalid ID, which may contain
// bytes that the server rejects, becomes "", which no session has.
func key(id pawl.SessionID) string {
	if !id.Valid() {
		return ""
	}
	return string(id)
}

// PostgreSQL's text type cannot hold NUL, but a prompt can (a binary file that was
// piped in). In the columns of a session's row NUL is therefore written as SUB "0",
// and the equally rare SUB as SUB "1"; all other text is unchanged.
var (
	quoter   = strings.NewReplacer("\x00", "\x1a0", "\x1a", "\x1a1")
	unquoter = strings.NewReplacer("\x1a0", "\x00", "\x1a1", "\x1a")
)

// quote returns a text as the columns hold it.
func quote(s string) string { return quoter.Replace(s) }

// quoted is quote for the columns of a change; nil for nil.
func quoted(s *string) *string {
	if s == nil {
		return nil
	}
	return new(quote(*s))
}

// unquote reverses quote, in place.
func unquote(columns ...*string) {
	for _, s := range columns {
		*s = unquoter.Replace(*s)
	}
}
