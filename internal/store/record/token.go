package record

import (
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Token returns a token of the given tenant in the form that stores keep, or
// ErrInvalid.
func Token(t store.Token, of store.Tenant) (store.Token, error) {
	switch {
	case t.Tenant != of:
		return t, fmt.Errorf("the token is of tenant %.100q, not of %q: %w", t.Tenant, of, pawl.ErrInvalid)
	case !pawl.SessionID(t.ID).Valid():
		return t, fmt.Errorf("%.50q is no id: %w", t.ID, pawl.ErrInvalid)
	case !ValidBlob(t.Hash):
		return t, fmt.Errorf("the token has no hash: %w", pawl.ErrInvalid)
	case t.User != "" && !t.User.Valid():
		return t, fmt.Errorf("%.100q cannot be a user: %w", t.User, pawl.ErrInvalid)
	case !pawl.User(t.Name).Valid():
		return t, fmt.Errorf("%.100q is no name for a token: letters, digits and . _ - + @, at most 100: %w", t.Name, pawl.ErrInvalid)
	}
	if err := limits(t.Limits); err != nil {
		return t, err
	}
	t.Created, t.Expires, t.Used, t.Revoked = stored(t.Created), stored(t.Expires), stored(t.Used), stored(t.Revoked)
	return t, nil
}
