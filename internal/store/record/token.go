package record

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Token returns a token of the given tenant in the form that stores keep, or
// ErrInvalid.
func Token(t store.Token, of store.Tenant) (store.Token, error) {
	switch {
	case t.Tenant != of:
		return t, fault.New(pawl.ErrInvalid, "the token belongs to tenant %.100q, not to %q", t.Tenant, of)
	case !pawl.SessionID(t.ID).Valid():
		return t, fault.New(pawl.ErrInvalid, "invalid token id %.50q", t.ID)
	case !ValidBlob(t.Hash):
		return t, fault.New(pawl.ErrInvalid, "the token has no hash")
	case t.User != "" && !t.User.Valid():
		return t, fault.New(pawl.ErrInvalid, "invalid user name %.100q", t.User)
	case !pawl.User(t.Name).Valid():
		return t, fault.New(pawl.ErrInvalid, "invalid token name %.100q: use at most 100 letters, digits and . _ - + @", t.Name)
	}
	switch t.Kind {
	case store.TokenAPI, store.TokenDevice:
	case store.TokenPasskey:
		if t.Passkey == "" {
			return t, fault.New(pawl.ErrInvalid, "the passkey has no public key")
		}
	case store.TokenLink:
		if t.Expires.IsZero() {
			return t, fault.New(pawl.ErrInvalid, "a link must expire")
		}
	default:
		return t, fault.New(pawl.ErrInvalid, "invalid kind of token %.50q", t.Kind)
	}
	if t.Passkey != "" && t.Kind != store.TokenPasskey {
		return t, fault.New(pawl.ErrInvalid, "only passkeys have a public key")
	}
	if t.Parent != "" && !pawl.SessionID(t.Parent).Valid() {
		return t, fault.New(pawl.ErrInvalid, "invalid token id %.50q", t.Parent)
	}
	if err := limits(t.Limits); err != nil {
		return t, err
	}
	t.Created, t.Expires, t.Used, t.Revoked = stored(t.Created), stored(t.Expires), stored(t.Used), stored(t.Revoked)
	return t, nil
}
