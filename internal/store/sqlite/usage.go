package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// Usage implements [store.Store].
func (s *Store) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	rows, err := s.usage(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", classify(err))
	}
	return rows, nil
}

func (s *Store) usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	if err := single(ctx); err != nil {
		return nil, err
	}
	query, args := sums(record.UsageFilter(f))
	rows, err := s.read.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []pawl.UsageRow
	for rows.Next() {
		var r pawl.UsageRow
		err := rows.Scan(&r.Session, &r.Parent, &r.Day, &r.Model, &r.Agent, &r.Replies,
			&r.Input, &r.Output, &r.Reasoning, &r.CacheRead, &r.CacheWrite, &r.Cost)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// sums returns the query for a filter, with the first day.
func sums(f pawl.UsageFilter, since string) (query string, args []any) {
	var roots []string
	if f.Session != "" {
		roots, args = append(roots, "id = ?"), append(args, string(f.Session))
	}
	if f.Dir != "" {
		roots, args = append(roots, "dir = ?"), append(args, f.Dir)
	}
	query = `SELECT session_id, parent, day, u.model, u.agent, replies,
		u.input, u.output, u.reasoning, u.cache_read, u.cache_write, u.cost
		FROM usage_days u JOIN sessions s ON s.id = session_id WHERE day >= ?`
	if len(roots) > 0 {
		// UNION instead of UNION ALL removes duplicates and ends cycles. The
		// condition parent > '' is redundant, but spares reading sessions without a
		// parent.
		query = `WITH RECURSIVE family (id) AS (SELECT id FROM sessions WHERE ` + strings.Join(roots, " AND ") + `
			UNION SELECT s.id FROM family f JOIN sessions s ON s.parent = f.id WHERE s.parent > '') ` + query + ` AND session_id IN (SELECT id FROM family)`
	}
	args = append(args, since)
	if f.Owner != nil {
		query, args = query+" AND s.owner = ?", append(args, string(*f.Owner))
	}
	return query + " ORDER BY day, session_id, u.model, u.agent", args
}

// sumSubagents takes a JSON array of ids. UNION instead of UNION ALL ends cycles.
const sumSubagents = `WITH RECURSIVE family (root, id) AS (
		SELECT parent, id FROM sessions WHERE parent > '' AND parent IN (SELECT value FROM json_each(?))
		UNION SELECT f.root, s.id FROM family f JOIN sessions s ON s.parent = f.id WHERE s.parent > '')
	SELECT f.root, sum(input), sum(output), sum(reasoning), sum(cache_read), sum(cache_write), sum(cost)
	FROM family f JOIN sessions s ON s.id = f.id WHERE f.id <> f.root GROUP BY f.root`

// SubagentUsage implements [store.Store].
func (s *Store) SubagentUsage(ctx context.Context, ids ...pawl.SessionID) (map[pawl.SessionID]pawl.Usage, error) {
	sums, err := s.subagentUsage(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read usage of subagents: %w", classify(err))
	}
	return sums, nil
}

func (s *Store) subagentUsage(ctx context.Context, ids []pawl.SessionID) (map[pawl.SessionID]pawl.Usage, error) {
	list, err := json.Marshal(ids)
	if err == nil {
		err = single(ctx)
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.read.db.QueryContext(ctx, sumSubagents, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sums := map[pawl.SessionID]pawl.Usage{}
	for rows.Next() {
		var id pawl.SessionID
		var u pawl.Usage
		if err := rows.Scan(&id, &u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.Cost); err != nil {
			return nil, err
		}
		sums[id] = u
	}
	return sums, rows.Err()
}
