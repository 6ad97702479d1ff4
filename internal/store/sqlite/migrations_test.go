package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pawl-dev/pawl/internal/store/sqlite"
)

func TestMigrations(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	files := fstest.MapFS{"migrations/0001_init.sql": {Data: []byte("SELECT 1")}} // stands for the one applied by Open

	step(t, s, files, "", 1)
	files["migrations/0002_more.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE more (x); INSERT INTO more VALUES (2);")}
	files["migrations/0003_again.sql"] = &fstest.MapFile{Data: []byte("INSERT INTO more VALUES (3);")}
	step(t, s, files, "", 3)
	step(t, s, files, "", 3)

	files["migrations/0004_bad.sql"] = &fstest.MapFile{Data: []byte("INSERT INTO more VALUES (4); INSERT INTO nothing VALUES (4);")}
	step(t, s, files, "0004_bad.sql: ", 3)
	var sum int
	if err := s.Conn().QueryRowContext(t.Context(), "SELECT sum(x) FROM more").Scan(&sum); err != nil || sum != 5 {
		t.Errorf("the table holds %d, %v; want each migration once and nothing of the bad one", sum, err)
	}

	delete(files, "migrations/0004_bad.sql")
	delete(files, "migrations/0003_again.sql")
	step(t, s, files, "upgrade pawl", 3)
	files["migrations/0004_late.sql"] = &fstest.MapFile{}
	step(t, s, files, "numbers go up by one", 3)
}

// step migrates and wants an error (or none) and the version that the file has then.
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
