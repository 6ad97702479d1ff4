package postgres_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

func TestManyOpenAnEmptySchemaAtOnce(t *testing.T) {
	t.Parallel()
	url := freshSchema(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
		})
	}
	wg.Wait()
	if applied := query(t, open(t, url), "SELECT name FROM migrations"); len(applied) != 14 {
		t.Errorf("applied %v", applied)
	}
}

// TestOldSchema checks that a schema of an earlier version is migrated with all its
// data.
func TestOldSchema(t *testing.T) {
	t.Parallel()
	first, err := os.ReadFile("migrations/0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	name := newSchema(t)
	t.Cleanup(func() { dropSchema(t, name) })
	id := storetest.NewID()
	err = admin(t.Context(), "SET search_path = "+name+";"+string(first)+`;
		CREATE TABLE migrations (version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now());
		INSERT INTO migrations (version, name) VALUES (1, 'init');
		INSERT INTO sessions SELECT '`+string(id)+`', '', '/w', now(), now(), 5, 0, false, 0, 0, 0, 0, 0, 0, 0, '', '', '', '{}', '{}';
		INSERT INTO events VALUES `+storetest.OldEvents(t, id, "now()"))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, schemaURL(t, name))
	storetest.FindsOld(t, s, id)
	storetest.TakesUsage(t, s, id, 5)
	storetest.TakesMissions(t, s, id, 6)
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	url := freshSchema(t)
	if _, err := open(t, url).Pool().Exec(t.Context(), "INSERT INTO migrations (version, name) VALUES (99, 'from the future')"); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Open(t.Context(), url)
	if err == nil || !strings.Contains(err.Error(), "upgrade Pawl") {
		t.Errorf("error %v, want one that says to upgrade", err)
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://pawl@127.0.0.1:1/pawl?sslmode=disable")
	if !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
	_, err = postgres.Open(t.Context(), "postgres://host:port/")
	if !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("error %v, want ErrInvalid", err)
	}
}

func TestConnectionsThatAreLost(t *testing.T) {
	t.Parallel()
	url := schema(t)
	s, other := open(t, url), open(t, url)
	id := fill(t, s, 1, 1)[0]
	var pid int
	if err := s.Pool().QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	query(t, other, "SELECT pg_terminate_backend($1, 10000)::text", pid)
	_, err := s.Append(t.Context(), id, 1, pawl.Event{Body: pawl.SessionTitled{Title: "lost"}})
	if err != nil && !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("error %v, want none or ErrUnavailable", err)
	}
	row, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatalf("the store does not recover: %v", err)
	}
	if _, err := s.Append(t.Context(), id, row.Head, pawl.Event{Body: pawl.SessionTitled{Title: "found"}}); err != nil {
		t.Errorf("the store does not recover: %v", err)
	}
}
