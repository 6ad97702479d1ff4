package postgres_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/store/record"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// fill creates sessions of n events each.
func fill(t *testing.T, s *postgres.Store, sessions, n int) []pawl.SessionID {
	t.Helper()
	events := []pawl.Event{{Body: pawl.SessionCreated{Dir: "/w"}}}
	for range n - 1 {
		events = append(events, pawl.Event{Body: pawl.CallFinished{Result: pawl.Result{Content: "some output"}}})
	}
	var ids []pawl.SessionID
	for range sessions {
		id := storetest.NewID()
		if _, err := s.Append(t.Context(), id, 0, events...); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// query returns one column of text.
func query(t *testing.T, s *postgres.Store, sql string, args ...any) []string {
	t.Helper()
	rows, _ := s.Pool().Query(t.Context(), sql, args...)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestEventsArePartitioned(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	if n := len(query(t, s, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'events'::regclass")); n != 32 {
		t.Errorf("events has %d partitions, want 32", n)
	}
	fill(t, s, 200, 2)
	if n := len(query(t, s, "SELECT DISTINCT tableoid::regclass::text FROM events")); n < 24 {
		t.Errorf("200 sessions are spread over %d partitions, want nearly all", n)
	}
}

func TestEventsAreReadFromOnePartitionByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	id := fill(t, s, 1, 3000)[0]
	query(t, s, "ANALYZE events")
	plan := strings.Join(query(t, s, "EXPLAIN "+postgres.SelectPage, string(id), 2990, 256), "\n")
	partitions := regexp.MustCompile(`events_\d\d`).FindAllString(plan, -1)
	slices.Sort(partitions)
	if len(slices.Compact(partitions)) != 1 || strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "_pkey") {
		t.Errorf("want one partition, read by its index:\n%s", plan)
	}
}

func TestWordsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	query(t, s, `INSERT INTO sessions SELECT lpad(i::text, 26, '0'), '', '/w', now(), now(), 1, 0, false, 0, 0, 0, 0, 0, 0, 0, '', '', '',
		ARRAY['word' || i], ARRAY['prompt'] FROM generate_series(1, 5000) i`)
	query(t, s, "ANALYZE sessions")
	query(t, s, "ANALYZE session_words")
	sql, args := postgres.List(record.List{Filter: pawl.Filter{Query: "word4242 pro", Limit: 100}})
	plan := strings.Join(query(t, s, "EXPLAIN "+sql, args...), "\n")
	if !strings.Contains(plan, "session_words_pkey") {
		t.Errorf("want the index of words to be used:\n%s", plan)
	}
}

// TestConversationsAreFoundByIndex checks that a search reads the texts that match, and no
// others, also with row-level security.
func TestConversationsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	query(t, s, `INSERT INTO sessions SELECT lpad(i::text, 26, '0'), '', '/w', now(), now(), 1, 0, false, 0, 0, 0, 0, 0, 0, 0, '', '', '', '{}', '{}'
		FROM generate_series(1, 100) i`)
	query(t, s, `INSERT INTO search_texts (session_id, seq, message, words, lexemes)
		SELECT id, n, n, ' word' || n || ' common ', array_to_tsvector(ARRAY['word' || n, 'common', 't:']) FROM sessions, generate_series(1, 200) n`)
	query(t, s, "ANALYZE search_texts")
	tx, err := s.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), `SELECT set_config('pawl.search', $1, true)`, "'word42' & 'common'"); err != nil {
		t.Fatal(err)
	}
	sql, args := postgres.List(record.List{Filter: pawl.Filter{Limit: 100}, Search: record.Search{{Words: []string{"word42"}}, {Words: []string{"common"}}}})
	rows, _ := tx.Query(t.Context(), "EXPLAIN "+sql, args...)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if plan := strings.Join(lines, "\n"); err != nil || !strings.Contains(plan, "search_texts_by_word") {
		t.Errorf("want the index of words to be used, %v:\n%s", err, plan)
	}
}

func TestUsageIsFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	query(t, s, `INSERT INTO sessions SELECT lpad(i::text, 26, '0'), CASE i % 10 WHEN 0 THEN lpad((i/10)::text, 26, '0') ELSE '' END, '/w' || i, now(), now(), 1, 0, false, 0, 0, 0, 0, 0, 0, 0, '', '', '',
		'{}', '{}' FROM generate_series(1, 5000) i`)
	query(t, s, `INSERT INTO usage_days SELECT id, to_char(date '2026-01-01' + (id::int % 500), 'YYYY-MM-DD'), 'm' || n, 'build', 1, 1, 1, 1, 1, 1, 1
		FROM sessions, generate_series(1, 10) n`)
	query(t, s, "ANALYZE sessions")
	query(t, s, "ANALYZE usage_days")
	for index, c := range map[string]struct {
		filter pawl.UsageFilter
		since  string
	}{
		"usage_by_day":    {since: "2027-05-10"},
		"sessions_by_dir": {filter: pawl.UsageFilter{Dir: "/w42"}},
		"usage_days_pkey": {filter: pawl.UsageFilter{Session: pawl.SessionID(strings.Repeat("0", 24) + "42")}},
	} {
		sql, args := postgres.Sums(c.filter, c.since)
		if plan := strings.Join(query(t, s, "EXPLAIN "+sql, args...), "\n"); !strings.Contains(plan, index) || strings.Contains(plan, "Seq Scan on usage") {
			t.Errorf("%+v: want %s to be used, and usage not to be read whole:\n%s", c, index, plan)
		}
	}
}

// TestPlainAppendsAreHOT checks that a step within a turn changes no index of
// sessions or usage. This is why only the start and end of turns change Updated.
func TestPlainAppendsAreHOT(t *testing.T) {
	t.Parallel()
	const appends = 300
	s := open(t, freshSchema(t))
	id := fill(t, s, 1, 1)[0]
	for head := range pawl.Seq(appends) {
		e := pawl.Event{Body: pawl.Replied{Usage: pawl.Usage{Input: 5, Cost: 7}}}
		if _, err := s.Append(t.Context(), id, head+1, e); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, table := range []string{"sessions", "usage_days"} {
		var updates, hot int
		for updates < appends-1 { // the server's counters lag
			err := s.Pool().QueryRow(ctx, `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
				WHERE relid = $1::text::regclass`, table).Scan(&updates, &hot)
			if err != nil {
				t.Fatalf("%s: after %d updates were counted: %v", table, updates, err)
			}
			time.Sleep(20 * time.Millisecond) // polls: the server counts in the background
		}
		if hot < updates*9/10 {
			t.Errorf("%s: of %d updates %d were HOT", table, updates, hot)
		}
		t.Logf("%s: %d of %d updates were HOT", table, hot, updates)
	}
}

// TestOwnersAreFoundByIndex checks that listing a user's sessions does not read those
// of others.
func TestOwnersAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	query(t, s, `INSERT INTO sessions SELECT lpad(i::text, 26, '0'), '', '/w', now(), now(), 1, 0, false, 0, 0, 0, 0, 0, 0, 0, '', '', '',
		'{}', '{}', 'user' || i % 1000, ARRAY['reader' || i] FROM generate_series(1, 20000) i`)
	query(t, s, "ANALYZE sessions")
	for _, f := range []pawl.Filter{{Owner: new(pawl.User("user42")), Limit: 100}, {Owner: new(pawl.User("user42")), Shared: true, Limit: 100}} {
		sql, args := postgres.List(record.List{Filter: f})
		plan := strings.Join(query(t, s, "EXPLAIN "+sql, args...), "\n")
		if !strings.Contains(plan, "sessions_by_owner") || f.Shared && !strings.Contains(plan, "session_readers_pkey") {
			t.Errorf("%+v: want the indexes of owners to be used:\n%s", f, plan)
		}
	}
}

// TestMissionsAreFoundByIndex checks that listing missions, which are few, does not
// read all sessions.
func TestMissionsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	query(t, s, `INSERT INTO sessions SELECT lpad(i::text, 26, '0'), '', '/w', now(), now(), 1, 0, false, 0, 0, 0, 0, 0, 0, 0, '', '', '',
		'{}', '{}', '', '{}', CASE i % 500 WHEN 0 THEN 'sealed' ELSE '' END FROM generate_series(1, 20000) i`)
	query(t, s, "ANALYZE sessions")
	sql, args := postgres.List(record.List{Filter: pawl.Filter{Missions: true, Limit: 100}})
	if plan := strings.Join(query(t, s, "EXPLAIN "+sql, args...), "\n"); !strings.Contains(plan, "sessions_commanding") {
		t.Errorf("want the index of missions to be used:\n%s", plan)
	}
}
