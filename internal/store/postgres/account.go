package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/record"
)

var _ store.Tenants = (*Store)(nil)

const selectAccount = `SELECT tenant, created, suspended, rate, budget, parallel, streams FROM tenants WHERE removed IS NULL `

func scanAccount(row pgx.CollectableRow) (a store.Account, err error) {
	var suspended *time.Time
	err = row.Scan(&a.Tenant, &a.Created, &suspended, &a.Limits.Rate, &a.Limits.Budget, &a.Limits.Parallel, &a.Limits.Streams)
	a.Created = a.Created.UTC()
	if suspended != nil {
		a.Suspended = suspended.UTC()
	}
	return a, err
}

// operator returns ErrDenied to a tenant. Without it, row-level security would show
// the tenant its own row and silently change nothing.
func operator(ctx context.Context) error {
	if t := store.TenantOf(ctx); t != "" {
		return fault.New(pawl.ErrDenied, "only the operator of the fleet can manage tenants, not tenant %s", t)
	}
	return nil
}

// AddTenant implements [store.Tenants].
func (s *Store) AddTenant(ctx context.Context, a store.Account) error {
	err := operator(ctx)
	if err == nil {
		a, err = record.Account(a)
	}
	if err == nil {
		var added int64
		added, err = s.changed(ctx, `INSERT INTO tenants (tenant, created, suspended, rate, budget, parallel, streams)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
			string(a.Tenant), a.Created, moment(a.Suspended), a.Limits.Rate, int64(a.Limits.Budget), a.Limits.Parallel, a.Limits.Streams)
		if err == nil && added == 0 {
			err = fault.New(pawl.ErrConflict, "the name is in use or was used before; names are not reused")
		}
	}
	if err != nil {
		return fmt.Errorf("add tenant %.100q: %w", a.Tenant, classify(err))
	}
	return nil
}

// Tenant implements [store.Tenants].
func (s *Store) Tenant(ctx context.Context, t store.Tenant) (store.Account, error) {
	err := operator(ctx)
	var a store.Account
	if err == nil {
		a, err = account(ctx, s.pool, t, "")
	}
	if err != nil {
		return store.Account{}, fmt.Errorf("find tenant %.100q: %w", t, classify(err))
	}
	return a, nil
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// account reads a tenant's row, or returns pgx.ErrNoRows or ErrNotFound. The lock is
// a suffix such as FOR UPDATE, or "".
func account(ctx context.Context, q querier, t store.Tenant, lock string) (store.Account, error) {
	if !t.Valid() { // it may not be valid text for the server
		return store.Account{}, pawl.ErrNotFound
	}
	rows, _ := q.Query(ctx, selectAccount+`AND tenant = $1`+lock, string(t)) // CollectExactlyOneRow returns its error
	return pgx.CollectExactlyOneRow(rows, scanAccount)
}

// Tenants implements [store.Tenants].
func (s *Store) Tenants(ctx context.Context) ([]store.Account, error) {
	err := operator(ctx)
	var all []store.Account
	if err == nil {
		rows, _ := s.pool.Query(ctx, selectAccount+`ORDER BY tenant`) // CollectRows returns its error
		all, err = pgx.CollectRows(rows, scanAccount)
	}
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", classify(err))
	}
	return all, nil
}

// SetTenant implements [store.Tenants]. It locks the row while change runs.
func (s *Store) SetTenant(ctx context.Context, t store.Tenant, change func(*store.Account)) (a store.Account, err error) {
	err = operator(ctx)
	if err == nil {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			old, err := account(ctx, tx, t, ` FOR UPDATE`)
			if err != nil {
				return err
			}
			a = old
			change(&a)
			a.Tenant, a.Created = old.Tenant, old.Created
			if a, err = record.Account(a); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE tenants SET suspended = $2, rate = $3, budget = $4, parallel = $5, streams = $6 WHERE tenant = $1`,
				string(t), moment(a.Suspended), a.Limits.Rate, int64(a.Limits.Budget), a.Limits.Parallel, a.Limits.Streams)
			return err
		})
	}
	if err != nil {
		return store.Account{}, fmt.Errorf("change tenant %.100q: %w", t, classify(err))
	}
	return a, nil
}

// SessionsOf implements [store.Tenants].
func (s *Store) SessionsOf(ctx context.Context, t store.Tenant, most int) ([]pawl.SessionID, error) {
	err := operator(ctx)
	var ids []pawl.SessionID
	if err == nil {
		rows, _ := s.pool.Query(store.WithTenant(ctx, t), `SELECT id FROM sessions WHERE tenant = $1 LIMIT $2`, string(t), most) // CollectRows returns its error
		ids, err = pgx.CollectRows(rows, pgx.RowTo[pawl.SessionID])
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions of tenant %.100q: %w", t, classify(err))
	}
	return ids, nil
}

// RemoveTenant implements [store.Tenants].
func (s *Store) RemoveTenant(ctx context.Context, t store.Tenant) error {
	err := operator(ctx)
	if err == nil {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if _, err := account(ctx, tx, t, ` FOR UPDATE`); err != nil {
				return err
			}
			if err := clearTenant(ctx, tx, t); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE tenants SET removed = now() WHERE tenant = $1`, string(t))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("remove tenant %.100q: %w", t, classify(err))
	}
	return nil
}

// clearTenant deletes a tenant's tokens and workspaces, acting as that tenant, or
// returns ErrConflict if it has sessions. At its end the transaction acts for no
// tenant again.
func clearTenant(ctx context.Context, tx pgx.Tx, t store.Tenant) error {
	work := func(setting string) error {
		_, err := tx.Exec(ctx, `SELECT set_config('pawl.tenant', $1, true)`, setting) // until the transaction ends
		return err
	}
	if err := work("t:" + string(t)); err != nil {
		return err
	}
	var sessions bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sessions)`).Scan(&sessions); err != nil {
		return err
	}
	if sessions {
		return fault.New(pawl.ErrConflict, "the tenant has sessions: delete them first")
	}
	for _, statement := range []string{`DELETE FROM tokens WHERE tenant = $1`, `DELETE FROM workspaces WHERE tenant = $1`} {
		if _, err := tx.Exec(ctx, statement, string(t)); err != nil {
			return err
		}
	}
	return work("t:")
}

// hasTenant returns ErrNotFound if the context has a tenant that does not exist.
func (s *Store) hasTenant(ctx context.Context) error {
	t := store.TenantOf(ctx)
	if t == "" {
		return nil
	}
	_, err := account(ctx, s.pool, t, "")
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, pawl.ErrNotFound) {
		return fault.New(pawl.ErrNotFound, "tenant %.100q not found", t)
	}
	return err
}
