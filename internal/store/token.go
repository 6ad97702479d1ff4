package store

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// Token lets a program ask a server in a user's name. Its secret is known to who
// uses it alone: what is kept is the hash.
type Token struct {
	ID      string    `json:"id"`   // a ULID
	Name    string    `json:"name"` // for people
	Tenant  Tenant    `json:"tenant,omitempty"`
	User    pawl.User `json:"user"` // in whose name; "" sees the sessions of all of the tenant
	Scope   string    `json:"scope"`
	Hash    string    `json:"-"` // the secret's SHA-256 in hex
	Created time.Time `json:"created,omitzero"`
	Expires time.Time `json:"expires,omitzero"` // zero means never
	Used    time.Time `json:"used,omitzero"`    // the last time, give or take a minute
	Revoked time.Time `json:"revoked,omitzero"` // zero means that it is not
	Limits  Limits    `json:"limits,omitzero"`
}

// Live reports whether the token can be used at that time.
func (t Token) Live(at time.Time) bool {
	return t.Revoked.IsZero() && (t.Expires.IsZero() || at.Before(t.Expires))
}

// Limits bound what is done with a token, or by all users of a tenant together.
// Zero means no bound.
type Limits struct {
	Rate     int        `json:"rate,omitempty"`     // requests a minute
	Budget   pawl.Money `json:"budget,omitempty"`   // that all of its user's sessions may cost, a UTC day
	Parallel int        `json:"parallel,omitempty"` // sessions of its user that work at once
	Streams  int        `json:"streams,omitempty"`  // sessions that are watched with it at once
}

// Tokens keep the tokens of a server, beside the sessions, so that all servers on
// one store know the same ones.
type Tokens interface {
	// AddToken keeps a token. ErrConflict if its id or hash is taken, ErrInvalid
	// if it has none, or if it is not of the context's tenant. ErrNotFound if there
	// is no such tenant.
	AddToken(ctx context.Context, t Token) error

	// TokenByHash returns the token of a secret, whichever tenant's, or ErrNotFound.
	// It may have expired or been revoked.
	TokenByHash(ctx context.Context, hash string) (Token, error)

	// Tokens returns all of the tenant, the newest first.
	Tokens(ctx context.Context) ([]Token, error)

	// RevokeToken ends a token permanently, or returns ErrNotFound. The time of the
	// first revocation stays.
	RevokeToken(ctx context.Context, id string, at time.Time) error

	// UseToken records when a token was last used. One that does not exist is no error.
	UseToken(ctx context.Context, id string, at time.Time) error
}
