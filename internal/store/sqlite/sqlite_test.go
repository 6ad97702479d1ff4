package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, filepath.Join(t.TempDir(), "pawl.db")) })
}

func TestShared(t *testing.T) {
	t.Parallel()
	storetest.RunShared(t, func(t *testing.T) (a, b store.Store) {
		path := filepath.Join(t.TempDir(), "pawl.db")
		return open(t, path), open(t, path)
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.RunTokens(t, func(t *testing.T) (a, b store.Tokens) {
		path := filepath.Join(t.TempDir(), "pawl.db")
		return open(t, path), open(t, path)
	})
}

func TestTenantsAreRefused(t *testing.T) {
	t.Parallel()
	storetest.RefusesTenants(t, open(t, filepath.Join(t.TempDir(), "pawl.db")))
}
