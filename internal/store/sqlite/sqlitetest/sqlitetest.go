// Package sqlitetest opens SQLite stores for tests.
package sqlitetest

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/store/sqlite"
)

// Open returns an empty store, which is closed when the test ends.
func Open(t testing.TB) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}
