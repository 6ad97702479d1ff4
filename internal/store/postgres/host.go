package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// knownFor is how long a host is listed after its last heartbeat.
const knownFor = 24 * time.Hour

// Heartbeat implements [fleet.HostRegistry].
func (s *Store) Heartbeat(ctx context.Context, m fleet.Host) (drain bool, err error) {
	err = validTexts(m.Name, m.Version)
	if m.Name == "" {
		err = fault.New(pawl.ErrInvalid, "the host has no name")
	}
	if err == nil {
		err = s.pool.QueryRow(ctx, `INSERT INTO hosts (name, version, capacity, busy, kept, disk_free, is_full, draining, seen)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())
			ON CONFLICT (name) DO UPDATE SET version = excluded.version, capacity = excluded.capacity, busy = excluded.busy, kept = excluded.kept,
				disk_free = excluded.disk_free, is_full = excluded.is_full, draining = excluded.draining, seen = excluded.seen
			RETURNING drain`,
			m.Name, m.Version, m.Capacity, m.Busy, m.Kept, m.DiskFree, m.Full, m.Draining).Scan(&drain)
	}
	if err != nil {
		return false, fmt.Errorf("heartbeat of host %s: %w", m.Name, classify(err))
	}
	return drain, nil
}

// Drain implements [fleet.HostRegistry].
func (s *Store) Drain(ctx context.Context, host string, on bool) error {
	err := validTexts(host)
	if err == nil {
		var changed int64
		changed, err = s.changed(ctx, `UPDATE hosts SET drain = $2 WHERE name = $1`, host, on)
		if err == nil && changed == 0 {
			err = fault.New(pawl.ErrNotFound, "host not found")
		}
	}
	if err != nil {
		return fmt.Errorf("drain host %.100s: %w", host, classify(err))
	}
	return nil
}

// Hosts implements [fleet.HostRegistry].
func (s *Store) Hosts(ctx context.Context) ([]fleet.Host, error) {
	rows, _ := s.pool.Query(ctx, `SELECT name, version, capacity, busy, kept, disk_free, is_full, draining OR drain, seen, seen > now() - $1::interval
		FROM hosts WHERE seen > now() - $2::interval ORDER BY name`, s.live, knownFor) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m fleet.Host, err error) {
		err = row.Scan(&m.Name, &m.Version, &m.Capacity, &m.Busy, &m.Kept, &m.DiskFree, &m.Full, &m.Draining, &m.Seen, &m.Live)
		m.Seen = m.Seen.UTC()
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("list hosts: %w", classify(err))
	}
	return all, nil
}

// Loads implements [fleet.HostRegistry]. It finds tenants by their tokens and
// workspaces, and counts the sessions of each one acting as that tenant.
func (s *Store) Loads(ctx context.Context) ([]fleet.Load, error) {
	rows, _ := s.pool.Query(forAll(ctx), `SELECT '' UNION SELECT tenant FROM tokens UNION SELECT tenant FROM workspaces ORDER BY 1`)
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	list := make([]fleet.Load, len(tenants))
	for i, tenant := range tenants {
		if err != nil {
			break
		}
		list[i].Tenant = store.Tenant(tenant)
		err = s.pool.QueryRow(store.WithTenant(ctx, list[i].Tenant), `SELECT count(*) FILTER (WHERE turn_open), count(*) FILTER (WHERE NOT turn_open),
			count(*) FILTER (WHERE turn_open AND (SELECT kind FROM events e WHERE e.session_id = s.id AND e.seq = s.head) = 'asked')
			FROM sessions s WHERE tenant = $1 AND (turn_open OR queued > 0)`, tenant).Scan(&list[i].Working, &list[i].Queued, &list[i].Waiting)
	}
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", classify(err))
	}
	return list, nil
}

// Clock returns the time of the database server, which decides whether hosts are
// live.
func (s *Store) Clock(ctx context.Context) (now time.Time, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return now, fmt.Errorf("read the time of the database: %w", classify(err))
	}
	return now, nil
}
