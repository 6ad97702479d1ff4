package postgres_test

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
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
	storetest.Run(t, func(t *testing.T) pawl.Store { return open(t, schema(t)) })
}

func TestShared(t *testing.T) {
	t.Parallel()
	storetest.RunShared(t, func(t *testing.T) (a, b pawl.Store) {
		url := schema(t)
		return open(t, url), open(t, url)
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.RunTokens(t, func(t *testing.T) (a, b pawl.Tokens) {
		url := schema(t)
		return open(t, url), open(t, url)
	})
}
