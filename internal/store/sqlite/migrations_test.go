package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

func TestMigrations(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	files := fstest.MapFS{"migrations/0001_init.sql": {}, "migrations/0002_usage.sql": {}, "migrations/0003_teams.sql": {}, "migrations/0004_missions.sql": {}, "migrations/0005_asks.sql": {}, "migrations/0006_devices.sql": {}, "migrations/0007_search.sql": {}, "migrations/0008_passkeys.sql": {}} // placeholders for those applied by Open

	step(t, s, files, "", 8)
	files["migrations/0009_more.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE more (x); INSERT INTO more VALUES (2);")}
	files["migrations/0010_again.sql"] = &fstest.MapFile{Data: []byte("INSERT INTO more VALUES (3);")}
	step(t, s, files, "", 10)
	step(t, s, files, "", 10)

	files["migrations/0011_bad.sql"] = &fstest.MapFile{Data: []byte("INSERT INTO more VALUES (4); INSERT INTO nothing VALUES (4);")}
	step(t, s, files, "0011_bad.sql: ", 10)
	var sum int
	if err := s.Conn().QueryRowContext(t.Context(), "SELECT sum(x) FROM more").Scan(&sum); err != nil || sum != 5 {
		t.Errorf("the table holds %d, %v; want each migration once and nothing of the bad one", sum, err)
	}

	delete(files, "migrations/0011_bad.sql")
	delete(files, "migrations/0010_again.sql")
	step(t, s, files, "upgrade Pawl", 10)
	files["migrations/0011_late.sql"] = &fstest.MapFile{}
	step(t, s, files, "numbered consecutively", 10)
}

// TestOldFile checks that a file of an earlier version is migrated with all its data.
func TestOldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pawl.db")
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile("migrations/0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	id := storetest.NewID()
	_, err = old.ExecContext(t.Context(), string(first)+"PRAGMA user_version = 1; INSERT INTO sessions VALUES ('"+string(id)+
		"', '', '/w', '', '', '', '', '', 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); INSERT INTO events VALUES "+storetest.OldEvents(t, id, "0"))
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	storetest.FindsOld(t, s, id)
	storetest.TakesUsage(t, s, id, 5)
	storetest.TakesMissions(t, s, id, 6)
}

// step migrates and checks the error, if any, and the version of the file afterwards.
func step(t *testing.T, s *sqlite.Store, files fstest.MapFS, failure string, want int) {
	t.Helper()
	err := s.Migrate(t.Context(), files)
	if (err == nil) != (failure == "") || err != nil && !strings.Contains(err.Error(), failure) {
		t.Errorf("error %v, want %q", err, failure)
	}
	var version int
	if err := s.Conn().QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil || version != want {
		t.Errorf("version %d, %v; want %d", version, err, want)
	}
}
