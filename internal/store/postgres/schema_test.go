package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// schemas has empty schemas that no test uses now. Creating one with its 32
// partitions and dropping it takes half a second, so tests reuse them.
var schemas struct {
	sync.Mutex
	free []string
	all  []string
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, name := range schemas.all {
		if err := admin(context.Background(), "DROP SCHEMA "+name+" CASCADE"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// schema returns the URL of a schema without sessions, for this test alone.
func schema(t testing.TB) string {
	t.Helper()
	schemas.Lock()
	defer schemas.Unlock()
	if len(schemas.free) == 0 {
		name := newSchema(t)
		schemas.all = append(schemas.all, name)
		schemas.free = append(schemas.free, name)
	}
	last := len(schemas.free) - 1
	name := schemas.free[last]
	schemas.free = schemas.free[:last]
	t.Cleanup(func() { freeSchema(t, name) })
	return schemaURL(t, name)
}

// emptied deletes the rows of all tenants: the owner of a table sees them while
// row-level security is not forced.
const emptied = `SET search_path = %s;
	DO $$
	DECLARE
		name text;
	BEGIN
		FOREACH name IN ARRAY ARRAY['events', 'sessions', 'tokens', 'tenants', 'hosts', 'workspaces'] LOOP
			EXECUTE format('ALTER TABLE %%I NO FORCE ROW LEVEL SECURITY', name);
			EXECUTE format('DELETE FROM %%I', name);
			IF name <> 'hosts' THEN
				EXECUTE format('ALTER TABLE %%I FORCE ROW LEVEL SECURITY', name);
			END IF;
		END LOOP;
	END $$`

func freeSchema(t testing.TB, name string) {
	err := admin(context.Background(), fmt.Sprintf(emptied, name))
	if err != nil {
		t.Errorf("empty %s: %v", name, err)
		return
	}
	schemas.Lock()
	defer schemas.Unlock()
	schemas.free = append(schemas.free, name)
}

// freshSchema returns the URL of a schema without tables, which is dropped when the
// test ends.
func freshSchema(t testing.TB) string {
	t.Helper()
	name := newSchema(t)
	t.Cleanup(func() { dropSchema(t, name) })
	return schemaURL(t, name)
}

func dropSchema(t testing.TB, name string) {
	t.Helper()
	if err := admin(context.Background(), "DROP SCHEMA "+name+" CASCADE"); err != nil {
		t.Error(err)
	}
}

func newSchema(t testing.TB) (name string) {
	t.Helper()
	name = "t_" + strings.ToLower(string(storetest.NewID()))
	if err := admin(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return name
}

func server() string {
	if url := os.Getenv("PAWL_TEST_POSTGRES"); url != "" {
		return url
	}
	return "postgres://pawl@127.0.0.1:54330/pawl_test?sslmode=disable"
}

func schemaURL(t testing.TB, name string) string {
	u, err := url.Parse(server())
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", name)
	query.Set("pool_max_conns", "8")
	u.RawQuery = query.Encode()
	return u.String()
}

// admin runs statements on its own connection.
func admin(ctx context.Context, statements string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server())
	if err != nil {
		return fmt.Errorf("the PostgreSQL server for tests cannot be reached, start it with `make services`: %w", err)
	}
	_, err = conn.Exec(ctx, statements)
	return errors.Join(err, conn.Close(ctx))
}
