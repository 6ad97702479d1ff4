package record

import (
	"fmt"

	"github.com/pawl-dev/pawl"
)

// Token returns a token as a store keeps it, or ErrInvalid.
func Token(t pawl.Token) (pawl.Token, error) {
	switch {
	case !pawl.SessionID(t.ID).Valid():
		return t, fmt.Errorf("%.50q is no id: %w", t.ID, pawl.ErrInvalid)
	case !ValidBlob(t.Hash):
		return t, fmt.Errorf("the token has no hash: %w", pawl.ErrInvalid)
	case t.User != "" && !t.User.Valid():
		return t, fmt.Errorf("%.100q cannot be a user: %w", t.User, pawl.ErrInvalid)
	case !pawl.User(t.Name).Valid():
		return t, fmt.Errorf("%.100q is no name for a token: letters, digits and . _ - + @, at most 100: %w", t.Name, pawl.ErrInvalid)
	case min(int64(t.Limits.Rate), int64(t.Limits.Budget), int64(t.Limits.Parallel), int64(t.Limits.Streams)) < 0:
		return t, fmt.Errorf("a limit is below zero: %w", pawl.ErrInvalid)
	}
	t.Created, t.Expires, t.Used, t.Revoked = stored(t.Created), stored(t.Expires), stored(t.Used), stored(t.Revoked)
	return t, nil
}
