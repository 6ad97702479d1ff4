package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// usageTypes has the types of addUsage's own parameters.
var usageTypes = []string{"text", "text", "text", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint"}

// addUsage returns the part of an append that adds usage. Its own parameters are
// arrays that follow the first n parameters of the append.
func addUsage(n int) string {
	var own []string
	for i, name := range usageTypes {
		own = append(own, fmt.Sprintf("$%d::%s[]", n+i+1, name))
	}
	return `INSERT INTO usage_days AS u
			(session_id, day, model, agent, replies, input, output, reasoning, cache_read, cache_write, cost)
		SELECT $1, r.* FROM moved, unnest(` + strings.Join(own, ", ") + `) AS r
		ON CONFLICT (session_id, day, model, agent) DO UPDATE SET
			replies = u.replies + excluded.replies, input = u.input + excluded.input, output = u.output + excluded.output,
			reasoning = u.reasoning + excluded.reasoning, cache_read = u.cache_read + excluded.cache_read,
			cache_write = u.cache_write + excluded.cache_write, cost = u.cost + excluded.cost`
}

// usageColumns returns rows as addUsage's own parameters.
func usageColumns(rows []pawl.UsageRow) []any {
	var texts [3][]string
	var numbers [7][]int64
	for _, r := range rows {
		for i, s := range []string{r.Day, quote(r.Model), quote(r.Agent)} {
			texts[i] = append(texts[i], s)
		}
		for i, n := range []int64{int64(r.Replies), r.Input, r.Output, r.Reasoning, r.CacheRead, r.CacheWrite, int64(r.Cost)} {
			numbers[i] = append(numbers[i], n)
		}
	}
	columns := make([]any, 0, len(usageTypes))
	for _, c := range texts {
		columns = append(columns, c)
	}
	for _, c := range numbers {
		columns = append(columns, c)
	}
	return columns
}

// Usage implements [store.Store].
func (s *Store) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	query, args := sums(record.UsageFilter(f))
	rows, _ := s.pool.Query(ctx, query, args...) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r pawl.UsageRow, err error) {
		err = row.Scan(&r.Session, &r.Parent, &r.Day, &r.Model, &r.Agent, &r.Replies,
			&r.Input, &r.Output, &r.Reasoning, &r.CacheRead, &r.CacheWrite, &r.Cost)
		unquote((*string)(&r.Parent), &r.Model, &r.Agent)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", classify(err))
	}
	return all, nil
}

// sums returns the query for a filter, with the first day.
func sums(f pawl.UsageFilter, since string) (query string, args []any) {
	args = []any{since}
	var roots []string
	root := func(column, value string) {
		args = append(args, value)
		roots = append(roots, fmt.Sprintf("%s = $%d", column, len(args)))
	}
	if f.Session != "" {
		root("id", key(f.Session))
	}
	if f.Dir != "" {
		root("dir", quote(f.Dir))
	}
	query = `SELECT session_id, parent, day, u.model, u.agent, replies,
		u.input, u.output, u.reasoning, u.cache_read, u.cache_write, u.cost
		FROM usage_days u JOIN sessions s ON s.id = session_id WHERE day >= $1`
	if len(roots) > 0 {
		// UNION instead of UNION ALL removes duplicates and ends cycles. The
		// condition parent > '' is redundant, but spares reading sessions without a
		// parent.
		query = `WITH RECURSIVE family (id) AS (SELECT id FROM sessions WHERE ` + strings.Join(roots, " AND ") + `
			UNION SELECT s.id FROM family f JOIN sessions s ON s.parent = f.id WHERE s.parent > '') ` + query + ` AND session_id IN (SELECT id FROM family)`
	}
	if f.Owner != nil {
		args = append(args, quote(string(*f.Owner)))
		query += fmt.Sprintf(" AND s.owner = $%d", len(args))
	}
	return query + " ORDER BY day, session_id, u.model, u.agent", args
}

// sumSubagents takes an array of ids. UNION instead of UNION ALL ends cycles. Sums of
// bigint are numeric in PostgreSQL.
const sumSubagents = `WITH RECURSIVE family (root, id) AS (
		SELECT parent, id FROM sessions WHERE parent > '' AND parent = ANY ($1::text[])
		UNION SELECT f.root, s.id FROM family f JOIN sessions s ON s.parent = f.id WHERE s.parent > '')
	SELECT f.root, sum(input)::bigint, sum(output)::bigint, sum(reasoning)::bigint, sum(cache_read)::bigint, sum(cache_write)::bigint, sum(cost)::bigint
	FROM family f JOIN sessions s ON s.id = f.id WHERE f.id <> f.root GROUP BY f.root`

// SubagentUsage implements [store.Store].
func (s *Store) SubagentUsage(ctx context.Context, ids ...pawl.SessionID) (map[pawl.SessionID]pawl.Usage, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	sums := map[pawl.SessionID]pawl.Usage{}
	rows, _ := s.pool.Query(ctx, sumSubagents, keys) // ForEachRow returns its error
	var id pawl.SessionID
	var u pawl.Usage
	_, err := pgx.ForEachRow(rows, []any{&id, &u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.Cost}, func() error {
		sums[id] = u
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read usage of subagents: %w", classify(err))
	}
	return sums, nil
}
