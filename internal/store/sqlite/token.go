package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

var _ store.Tokens = (*Store)(nil)

const selectToken = `SELECT id, name, owner, scope, hash, created, expires, used, revoked, rate, budget, parallel, streams, kind, parent, passkey FROM tokens `

// AddToken implements [store.Tokens].
func (s *Store) AddToken(ctx context.Context, t store.Token) error {
	t, err := record.Token(t, "")
	if err == nil {
		err = s.write.transaction(ctx, func(ctx context.Context) error {
			if t.Kind == store.TokenLink {
				if _, err := s.write.conn.ExecContext(ctx, "DELETE FROM tokens WHERE kind = ? AND expires <= ?", store.TokenLink, t.Created.UnixMicro()); err != nil {
					return err
				}
			}
			added, err := s.write.conn.ExecContext(ctx, `INSERT INTO tokens
				(id, name, owner, scope, hash, created, expires, used, revoked, rate, budget, parallel, streams, kind, parent, passkey)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				t.ID, t.Name, string(t.User), t.Scope, t.Hash, t.Created.UnixMicro(), micro(t.Expires), micro(t.Used), micro(t.Revoked),
				t.Limits.Rate, int64(t.Limits.Budget), t.Limits.Parallel, t.Limits.Streams, t.Kind, t.Parent, t.Passkey)
			return affected(added, err, pawl.ErrConflict)
		})
	}
	if err != nil {
		return fmt.Errorf("add token: %w", classify(err))
	}
	return nil
}

// affected returns none if the statement changed no row.
func affected(r sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return none
}

// micro returns a time as its column holds it, NULL for the zero time.
func micro(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	return new(at.UnixMicro())
}

func scanToken(row interface{ Scan(...any) error }) (t store.Token, err error) {
	var created int64
	var expires, used, revoked *int64
	err = row.Scan(&t.ID, &t.Name, &t.User, &t.Scope, &t.Hash, &created, &expires, &used, &revoked,
		&t.Limits.Rate, &t.Limits.Budget, &t.Limits.Parallel, &t.Limits.Streams, &t.Kind, &t.Parent, &t.Passkey)
	t.Created = time.UnixMicro(created).UTC()
	for dst, at := range map[*time.Time]*int64{&t.Expires: expires, &t.Used: used, &t.Revoked: revoked} {
		if at != nil {
			*dst = time.UnixMicro(*at).UTC()
		}
	}
	return t, err
}

// TokenByHash implements [store.Tokens].
func (s *Store) TokenByHash(ctx context.Context, hash string) (store.Token, error) {
	t, err := scanToken(s.read.db.QueryRowContext(ctx, selectToken+"WHERE hash = ?", hash))
	if err != nil {
		return store.Token{}, fmt.Errorf("find token: %w", classify(err))
	}
	return t, nil
}

// Redeem implements [store.Tokens].
func (s *Store) Redeem(ctx context.Context, link string, d store.Token) error {
	d, err := record.Token(d, "")
	if err == nil {
		err = s.write.transaction(ctx, func(ctx context.Context) error {
			redeemed, err := s.write.conn.ExecContext(ctx, `UPDATE tokens SET kind = ?, hash = ?, name = ?, created = ?, expires = ?, parent = ?
				WHERE hash = ? AND id = ? AND kind = ? AND revoked IS NULL AND expires > ?`,
				store.TokenDevice, d.Hash, d.Name, d.Created.UnixMicro(), micro(d.Expires), d.Parent,
				link, d.ID, store.TokenLink, d.Created.UnixMicro())
			return affected(redeemed, err, pawl.ErrNotFound)
		})
	}
	if err != nil {
		return fmt.Errorf("redeem link: %w", classify(err))
	}
	return nil
}

// UpdatePasskey implements [store.Tokens].
func (s *Store) UpdatePasskey(ctx context.Context, id, old, state string) error {
	err := s.write.transaction(ctx, func(ctx context.Context) error {
		updated, err := s.write.conn.ExecContext(ctx, "UPDATE tokens SET passkey = ? WHERE id = ? AND kind = ? AND passkey = ?", state, id, store.TokenPasskey, old)
		return affected(updated, err, pawl.ErrConflict)
	})
	if err != nil {
		return fmt.Errorf("update passkey %s: %w", id, classify(err))
	}
	return nil
}

// Tokens implements [store.Tokens].
func (s *Store) Tokens(ctx context.Context) ([]store.Token, error) {
	if err := single(ctx); err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	rows, err := s.read.db.QueryContext(ctx, selectToken+"ORDER BY created DESC, id DESC")
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", classify(err))
	}
	defer rows.Close()
	var all []store.Token
	for rows.Next() {
		t, err := scanToken(rows)
		if err != nil {
			return nil, fmt.Errorf("list tokens: %w", classify(err))
		}
		all = append(all, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list tokens: %w", classify(err))
	}
	return all, nil
}

// RevokeToken implements [store.Tokens].
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	err := s.write.transaction(ctx, func(ctx context.Context) error {
		revoked, err := s.write.conn.ExecContext(ctx, "UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?", at.UnixMicro(), id)
		return affected(revoked, err, pawl.ErrNotFound)
	})
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, classify(err))
	}
	return nil
}

// UseToken implements [store.Tokens].
func (s *Store) UseToken(ctx context.Context, id string, at time.Time) error {
	err := s.write.passing(ctx, func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(ctx, "UPDATE tokens SET used = max(coalesce(used, 0), ?) WHERE id = ?", at.UnixMicro(), id)
		return err
	})
	if err != nil {
		return fmt.Errorf("record the use of token %s: %w", id, classify(err))
	}
	return nil
}
