package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

var _ store.Tokens = (*Store)(nil)

const selectToken = `SELECT id, name, owner, scope, hash, created, expires, used, revoked, rate, budget, parallel, streams, tenant, kind, parent, passkey FROM tokens `

// AddToken implements [store.Tokens].
func (s *Store) AddToken(ctx context.Context, t store.Token) error {
	t, err := record.Token(t, store.TenantOf(ctx))
	if err == nil {
		err = s.hasTenant(ctx)
	}
	if err == nil && t.Kind == store.TokenLink {
		_, err = s.pool.Exec(ctx, "DELETE FROM tokens WHERE kind = $1 AND expires <= $2", store.TokenLink, t.Created)
	}
	if err == nil {
		var added pgconn.CommandTag
		added, err = s.pool.Exec(ctx, `INSERT INTO tokens
			(id, name, owner, scope, hash, created, expires, used, revoked, rate, budget, parallel, streams, kind, parent, passkey)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING`,
			t.ID, t.Name, string(t.User), t.Scope, t.Hash, t.Created, moment(t.Expires), moment(t.Used), moment(t.Revoked),
			t.Limits.Rate, int64(t.Limits.Budget), t.Limits.Parallel, t.Limits.Streams, t.Kind, t.Parent, t.Passkey)
		if err == nil && added.RowsAffected() == 0 {
			err = pawl.ErrConflict
		}
	}
	if err != nil {
		return fmt.Errorf("add token: %w", classify(err))
	}
	return nil
}

// moment returns a time as its column holds it, NULL for the zero time.
func moment(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func scanToken(row pgx.CollectableRow) (t store.Token, err error) {
	var expires, used, revoked *time.Time
	err = row.Scan(&t.ID, &t.Name, &t.User, &t.Scope, &t.Hash, &t.Created, &expires, &used, &revoked,
		&t.Limits.Rate, &t.Limits.Budget, &t.Limits.Parallel, &t.Limits.Streams, &t.Tenant, &t.Kind, &t.Parent, &t.Passkey)
	t.Created = t.Created.UTC()
	for dst, at := range map[*time.Time]*time.Time{&t.Expires: expires, &t.Used: used, &t.Revoked: revoked} {
		if at != nil {
			*dst = at.UTC()
		}
	}
	return t, err
}

// TokenByHash implements [store.Tokens]. It searches all tenants: the token tells
// which tenant the caller belongs to.
func (s *Store) TokenByHash(ctx context.Context, hash string) (store.Token, error) {
	if !record.ValidBlob(hash) { // it may not be valid text for the server
		return store.Token{}, fault.New(pawl.ErrNotFound, "token not found")
	}
	rows, _ := s.pool.Query(forAll(ctx), selectToken+"WHERE hash = $1", hash) // CollectExactlyOneRow returns its error
	t, err := pgx.CollectExactlyOneRow(rows, scanToken)
	if err != nil {
		return store.Token{}, fmt.Errorf("find token: %w", classify(err))
	}
	return t, nil
}

// Redeem implements [store.Tokens].
func (s *Store) Redeem(ctx context.Context, link string, d store.Token) error {
	d, err := record.Token(d, store.TenantOf(ctx))
	if err == nil && !record.ValidBlob(link) { // it may not be valid text for the server
		err = pawl.ErrNotFound
	}
	if err == nil {
		var redeemed pgconn.CommandTag
		redeemed, err = s.pool.Exec(ctx, `UPDATE tokens SET kind = $1, hash = $2, name = $3, created = $4, expires = $5, parent = $6
			WHERE hash = $7 AND id = $8 AND kind = $9 AND revoked IS NULL AND expires > $4`,
			store.TokenDevice, d.Hash, d.Name, d.Created, moment(d.Expires), d.Parent, link, d.ID, store.TokenLink)
		if err == nil && redeemed.RowsAffected() == 0 {
			err = pawl.ErrNotFound
		}
	}
	if err != nil {
		return fmt.Errorf("redeem link: %w", classify(err))
	}
	return nil
}

// UpdatePasskey implements [store.Tokens].
func (s *Store) UpdatePasskey(ctx context.Context, id, old, state string) error {
	updated, err := s.pool.Exec(ctx, "UPDATE tokens SET passkey = $1 WHERE id = $2 AND kind = $3 AND passkey = $4",
		state, key(pawl.SessionID(id)), store.TokenPasskey, old)
	if err == nil && updated.RowsAffected() == 0 {
		err = pawl.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("update passkey %s: %w", id, classify(err))
	}
	return nil
}

// Tokens implements [store.Tokens].
func (s *Store) Tokens(ctx context.Context) ([]store.Token, error) {
	rows, _ := s.pool.Query(ctx, selectToken+"ORDER BY created DESC, id DESC") // CollectRows returns its error
	all, err := pgx.CollectRows(rows, scanToken)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", classify(err))
	}
	return all, nil
}

// RevokeToken implements [store.Tokens].
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	revoked, err := s.pool.Exec(ctx, "UPDATE tokens SET revoked = coalesce(revoked, $2) WHERE id = $1", key(pawl.SessionID(id)), at)
	if err == nil && revoked.RowsAffected() == 0 {
		err = pawl.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, classify(err))
	}
	return nil
}

// UseToken implements [store.Tokens].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	_, err := s.pool.Exec(ctx, "UPDATE tokens SET used = greatest(used, $2) WHERE id = $1", key(pawl.SessionID(id)), at)
	if err != nil {
		return fmt.Errorf("record the use of token %s: %w", id, classify(err))
	}
	return nil
}
