package store

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// Token allows a program to use a server on behalf of a user. Only its hash is
// stored, not the secret.
type Token struct {
	ID      string    `json:"id"`               // a ULID
	Name    string    `json:"name"`             // for display
	Kind    TokenKind `json:"kind,omitempty"`   // what the secret is for
	Parent  string    `json:"parent,omitempty"` // of a link or device: the ID of the token that it was made with
	Tenant  Tenant    `json:"tenant,omitempty"`
	User    pawl.User `json:"user"` // on whose behalf; "" has access to all sessions of the tenant
	Scope   string    `json:"scope"`
	Hash    string    `json:"-"` // hex SHA-256 of the secret
	Created time.Time `json:"created,omitzero"`
	Expires time.Time `json:"expires,omitzero"` // zero means never
	Used    time.Time `json:"used,omitzero"`    // last use, within a minute
	Revoked time.Time `json:"revoked,omitzero"` // zero means that it is not revoked
	Limits  Limits    `json:"limits,omitzero"`
	Passkey string    `json:"-"` // of a passkey: its public key and counter, as JSON; its Hash is that of its ID
}

// TokenKind is what the secret of a token is for.
type TokenKind string

// The kinds of tokens.
const (
	TokenAPI    TokenKind = ""       // programs send it with each request
	TokenDevice TokenKind = "device" // a browser has it in a cookie
	TokenLink   TokenKind = "link"   // signs a browser in, once: see Redeem

	// TokenPasskey is the public key of a passkey, which signs browsers in.
	TokenPasskey TokenKind = "passkey"
)

// Live reports whether the token is valid at that time.
func (t Token) Live(at time.Time) bool {
	return t.Revoked.IsZero() && (t.Expires.IsZero() || at.Before(t.Expires))
}

// Limits restrict the use of a token, or of all users of a tenant together. Zero
// means no limit.
type Limits struct {
	Rate     int        `json:"rate,omitempty"`     // requests per minute
	Budget   pawl.Money `json:"budget,omitempty"`   // cost of all sessions of its user, per UTC day
	Parallel int        `json:"parallel,omitempty"` // sessions of its user that work concurrently
	Streams  int        `json:"streams,omitempty"`  // event streams that it may follow concurrently
}

// Tokens stores the tokens of a server next to the sessions, so that all servers
// with the same store share them.
type Tokens interface {
	// AddToken stores a token. ErrConflict if its ID or hash exists, ErrInvalid if
	// it has none or belongs to another tenant than the context's, ErrNotFound if
	// the tenant does not exist. Adding a link deletes those that have expired.
	AddToken(ctx context.Context, t Token) error

	// TokenByHash returns the token of a secret, of any tenant, or ErrNotFound. It
	// may be expired or revoked.
	TokenByHash(ctx context.Context, hash string) (Token, error)

	// Redeem replaces the link with the given hash by a device, which has its ID:
	// the first call succeeds, others return ErrNotFound. So does one for a link
	// that is revoked, or expired when the device is created.
	Redeem(ctx context.Context, link string, device Token) error

	// UpdatePasskey replaces the state of a passkey after a sign-in. ErrConflict if it is not
	// the old one anymore, as then the passkey was used at the same time.
	UpdatePasskey(ctx context.Context, id, old, state string) error

	// Tokens returns all tokens of the tenant, newest first.
	Tokens(ctx context.Context) ([]Token, error)

	// RevokeToken revokes a token, or returns ErrNotFound. The time of the first
	// revocation is kept.
	RevokeToken(ctx context.Context, id string, at time.Time) error

	// UseToken records when a token was last used. An unknown ID is not an error.
	UseToken(ctx context.Context, id string, at time.Time) error
}
