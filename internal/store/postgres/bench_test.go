//go:build bench

package postgres_test

import (
	"context"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// TestBenchAppend compares Append with a bare insert over the same pool.
func TestBenchAppend(t *testing.T) { //nolint:paralleltest // it changes schemas
	s := open(t, schema(t))
	id := string(storetest.NewID())
	storetest.CompareRate(t, s, func(seq int, kind pawl.Kind, version int, body []byte) error {
		_, err := s.Pool().Exec(t.Context(), `INSERT INTO events (session_id, seq, turn, at, kind, version, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, id, seq, 1, storetest.Sample.At, string(kind), version, string(body))
		return err
	})
}

// TestBenchTenants compares an append with row-level security, one without, and one
// on a connection that had another tenant before. They alternate, so that noise
// affects all equally.
func TestBenchTenants(t *testing.T) { //nolint:paralleltest // it measures time
	behind, before := open(t, freshSchema(t)), open(t, freshSchema(t))
	query(t, before, `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relrowsecurity LOOP
			EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
		END LOOP; END $$`)
	acme, rival := store.WithTenant(t.Context(), "acme"), store.WithTenant(t.Context(), "rival")
	a, b := appender(acme, t, behind), appender(rival, t, behind)
	storetest.Compare(t, map[string]func(n int) error{
		"without policies": appender(t.Context(), t, before),
		"behind policies":  appender(t.Context(), t, behind),
		"taking turns": func(n int) error {
			if n%2 == 0 {
				return a(n)
			}
			return b(n)
		},
	})
}

// appender creates a session and returns a function that appends its event n+1.
func appender(ctx context.Context, t *testing.T, s *postgres.Store) func(n int) error {
	t.Helper()
	id := storetest.NewID()
	if _, err := s.Append(ctx, id, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/w"}}); err != nil {
		t.Fatal(err)
	}
	head := pawl.Seq(1)
	return func(int) error {
		_, err := s.Append(ctx, id, head, storetest.Sample)
		head++
		return err
	}
}

// TestBenchSearch measures searches, and what the index adds to an append.
func TestBenchSearch(t *testing.T) { //nolint:paralleltest // it measures time
	storetest.MeasureSearch(t, open(t, schema(t)))
}
